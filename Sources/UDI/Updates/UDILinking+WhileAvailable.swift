/// Running an operation while dependencies are available.
extension UDILinking {
  /// Runs an operation as long as all of several dependencies are available.
  ///
  /// ```swift
  /// try await context.whileAvailable((any Player).self, (any Remote).self) { player, remote in
  ///   for await command in remote.commands { await player.perform(command) }
  /// }
  /// ```
  ///
  /// The operation begins as soon as lookups find all of the dependencies. When one of them goes, or another instance
  /// takes its place, the operation is cancelled, and the call waits for its end. As soon as all dependencies are
  /// available again, the operation begins again, with the instances that lookups find at that time. If an operation
  /// was cancelled in this way, its result or error is ignored. Two operations never run at once, and none is left when
  /// the call returns.
  ///
  /// If the operation ends by itself, the call ends, too. It returns the operation's result, or throws the operation's
  /// error.
  ///
  /// A running operation holds its dependencies. A bound object therefore does not go when everything else releases it.
  /// It goes only when it is unbound, replaced or bound elsewhere, or when its context is removed or closed. While no
  /// operation runs, the call holds an object only if a provider has made it and no context owns it.
  ///
  /// If this method is called on an object that is attached to a different context meanwhile, the call stays with the
  /// first context.
  ///
  /// - Parameters:
  ///   - type: The type that the first dependency is registered under.
  ///   - more: The types that the other dependencies are registered under.
  ///   - search: The direction of the lookups; by default the context's search.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - operation: The operation. It runs in a child task of the current one. If it belongs on the main actor, mark
  ///     the closure `@MainActor`.
  /// - Returns: The result of the operation when it ends by itself.
  /// - Throws: The error that the operation throws when it ends by itself; `CancellationError` if the current task is
  ///   cancelled; ``UDILinkError`` if the context is gone or closed, or is closed meanwhile.
  /// - Complexity: For each dependency, as for ``updates(of:named:search:fileID:line:)``.
  nonisolated(nonsending) public func whileAvailable<First: Sendable, each More: Sendable, Result: Sendable>(
    _ type: First.Type, _ more: repeat (each More).Type, search: UDISearch? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, _ operation: @escaping @Sendable (First, repeat each More) async throws -> Result
  ) async throws -> Result {
    let site = UDICallSite(fileID, line)
    var requests = [LookupRequest(type, .anywhere, search: search, at: site)]
    repeat requests.append(LookupRequest(each more, .anywhere, search: search, at: site))
    return try await _origin.whileAvailable(requests, operation)
  }

  /// Does the same as ``whileAvailable(_:_:search:fileID:line:_:)-(First.Type,_,_,_,_,_)`` for dependencies with names.
  ///
  /// - Parameters:
  ///   - key: The type and the name that the first dependency is registered under.
  ///   - more: The types and the names that the other dependencies are registered under.
  ///   - search: The direction of the lookups; by default the context's search.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - operation: The operation. It runs in a child task of the current one. If it belongs on the main actor, mark
  ///     the closure `@MainActor`.
  /// - Returns: The result of the operation when it ends by itself.
  /// - Throws: The error that the operation throws when it ends by itself; `CancellationError` if the current task is
  ///   cancelled; ``UDILinkError`` if the context is gone or closed, or is closed meanwhile.
  nonisolated(nonsending) public func whileAvailable<First: Sendable, each More: Sendable, Result: Sendable>(
    _ key: UDIKey<First>, _ more: repeat UDIKey<each More>, search: UDISearch? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, _ operation: @escaping @Sendable (First, repeat each More) async throws -> Result
  ) async throws -> Result {
    let site = UDICallSite(fileID, line)
    var requests = [LookupRequest(First.self, .anywhere, named: key.name, search: search, at: site)]
    repeat requests.append(
      LookupRequest((each More).self, .anywhere, named: (each more).name, search: search, at: site))
    return try await _origin.whileAvailable(requests, operation)
  }
}

extension UDIOrigin {
  nonisolated(nonsending) fileprivate func whileAvailable<First: Sendable, each More: Sendable, Result: Sendable>(
    _ requests: [LookupRequest], _ operation: @escaping @Sendable (First, repeat each More) async throws -> Result
  ) async throws -> Result {
    let context = try context(requiredFor: "whileAvailable", requests[0])
    let availability = Availability(context, requests) { found in
      var rest = found[...]
      func next<Dependency>(_ type: Dependency.Type) throws -> Dependency {
        guard let found = rest.popFirst()??()?.value(as: type, isExact: true) else { throw ProviderFailure.nothing }
        return found
      }
      guard let first = try? next(First.self), let others = try? (repeat next((each More).self)) else { return nil }
      return { try await operation(first, repeat each others) }
    }
    // `run` returns the operation's own result.
    return try await availability.run() as! Result
  }
}
