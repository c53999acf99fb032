/// Running an operation while dependencies are there.
extension UDILinking {
  /// Runs an operation as long as all of several dependencies are there.
  ///
  /// ```swift
  /// try await context.whileAvailable((any Player).self, (any Remote).self) { player, remote in
  ///   for await command in remote.commands { await player.perform(command) }
  /// }
  /// ```
  ///
  /// The operation begins as soon as lookups find all of the dependencies. When one of them goes, or another instance
  /// takes its place, the operation is cancelled, and its end is awaited. As soon as all dependencies are there again,
  /// the operation begins again, with what lookups find at that time. If an operation was cancelled in this way, its
  /// result or error does not matter. There are never two operations at once, and none is left when the call returns.
  ///
  /// If the operation ends by itself, so does the call: it returns what the operation returns, and throws what the
  /// operation throws.
  ///
  /// A running operation holds its dependencies. A bound object therefore does not go when everything else releases it,
  /// but only when it is unbound, replaced or bound elsewhere, or when its context is removed or closed. While no
  /// operation runs, the call holds an object only if a provider has made it and no context owns it.
  ///
  /// If an object that calls this is attached to a different context meanwhile, the call stays with the first one.
  ///
  /// - Parameters:
  ///   - type: The type that the first dependency is registered under.
  ///   - more: The types that the other dependencies are registered under.
  ///   - search: The direction of the lookups; by default the context's search.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - operation: The operation. It runs in a child task of the current one. If it belongs on the main actor, mark
  ///     the closure `@MainActor`.
  /// - Returns: What the operation returns when it ends by itself.
  /// - Throws: What the operation throws when it ends by itself; `CancellationError` if the current task is cancelled;
  ///   ``UDILinkError`` if the context is gone or closed, or is closed meanwhile.
  /// - Complexity: For each dependency, as for ``updates(of:named:search:fileID:line:)``.
  nonisolated(nonsending) public func whileAvailable<First: Sendable, each More: Sendable, Result: Sendable>(
    _ type: First.Type, _ more: repeat (each More).Type, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ operation: @escaping @Sendable (First, repeat each More) async throws -> Result
  ) async throws -> Result {
    let request = LookupRequest(type, .anywhere, search: search, at: UDICallSite(fileID, line))
    let context = try _origin.context(requiredFor: "whileAvailable", request)
    return try await context.whileAvailable(
      context.updates(of: type, search: search), repeat context.updates(of: each more, search: search),
      while: operation)
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
  /// - Returns: What the operation returns when it ends by itself.
  /// - Throws: What the operation throws when it ends by itself; `CancellationError` if the current task is cancelled;
  ///   ``UDILinkError`` if the context is gone or closed, or is closed meanwhile.
  nonisolated(nonsending) public func whileAvailable<First: Sendable, each More: Sendable, Result: Sendable>(
    _ key: UDIKey<First>, _ more: repeat UDIKey<each More>, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ operation: @escaping @Sendable (First, repeat each More) async throws -> Result
  ) async throws -> Result {
    let request = LookupRequest(
      First.self, .anywhere, named: key.name, search: search, at: UDICallSite(fileID, line))
    let context = try _origin.context(requiredFor: "whileAvailable", request)
    return try await context.whileAvailable(
      context.updates(of: First.self, named: key.name, search: search),
      repeat context.updates(of: (each More).self, named: (each more).name, search: search),
      while: operation)
  }
}

extension UDIContext {
  nonisolated(nonsending) fileprivate func whileAvailable<First: Sendable, each More: Sendable, Result: Sendable>(
    _ first: UDIUpdates<First>, _ more: repeat UDIUpdates<each More>,
    while operation: @escaping @Sendable (First, repeat each More) async throws -> Result
  ) async throws -> Result {
    var followed: [@Sendable (Availability, Int) async -> Void] = [follow(first)]
    repeat followed.append(follow(each more))
    let availability = Availability(followed.count) { found in
      var rest = found[...]
      func next<Dependency>(_ type: Dependency.Type) throws -> Dependency {
        guard let dependency = rest.popFirst()??() as? Dependency else { throw ProviderFailure.nothing }
        return dependency
      }
      guard let first = try? next(First.self), let others = try? (repeat next((each More).self)) else { return nil }
      return { try await operation(first, repeat each others) }
    }
    do {
      let result = try await availability.run(followed)
      guard let result = result as? Result else { preconditionFailure("this is what the operation returned") }
      return result
    } catch ProviderFailure.nothing {
      throw explained(ProviderFailure.nothing, first.request)
    }
  }

  /// Returns a function that follows one dependency, and passes what each lookup finds to an `Availability`.
  private func follow<Dependency: Sendable>(
    _ updates: UDIUpdates<Dependency>
  ) -> @Sendable (Availability, Int) async -> Void {
    { availability, index in
      for await found in updates {
        availability.set(index, to: found.map { self.kept($0, updates.request) })
      }
      // The context is closed or gone. (Or the task is cancelled; then the outcome does not matter.)
      availability.end(with: .failure(ProviderFailure.nothing))
    }
  }

  /// Keeps what a lookup has found: strongly only if it is a value, or if nothing else might hold it.
  private func kept<Dependency: Sendable>(_ dependency: Dependency, _ request: LookupRequest) -> Availability.Found {
    guard !findsUnowned(request), let form = StoredForm.of(dependency, as: Dependency.self) else { return { dependency } }
    let entry = WeakEntry(form)
    withExtendedLifetime(dependency) {}
    return { entry.load(as: Dependency.self) }
  }

  /// Whether a lookup finds something that a provider makes and no context owns. It might go as soon as the caller
  /// releases it.
  private func findsUnowned(_ request: LookupRequest) -> Bool {
    let key = TypeToken.of(request.type).key(named: request.name)
    return change { node, garbage in
      guard let entry = node.nearestEntry(key.id, node.direction(of: request.search))?.object else { return false }
      garbage.add(entry)
      switch entry.kind {
      case .owned, .boxed: return false
      case .observed, .provider, .graphProvider: return true
      // An instance that a look has made may have bound itself. Then the binding is found, although nothing else may
      // hold the instance.
      case .binding: return entry.comesFromLook
      }
    }
  }
}
