/// Verbs that follow the result of a lookup, or wait for a dependency, on behalf of an object. The lookup begins in the
/// object's effective context. Each verb has two overloads (see `UDIContext+Bind.swift`).
extension UDIObject {
  /// Returns a sequence of the results of a lookup that begins in the object's effective context: the current result,
  /// and a new one after each change. If the object is attached to a different context later, the sequence stays with
  /// the first one.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default the context's search.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A sequence that keeps neither the object nor its context alive.
  public func updates<Dependency: Sendable>(
    of type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIUpdates<Dependency> {
    UDIUpdates(
      context: context(for: type, name, CallSite(fileID, line), "updates", isRequired: nil), type: type, name: name,
      search: search)
  }

  /// Waits until a lookup that begins in the object's effective context finds a dependency. If the object is attached
  /// to a different context meanwhile, the call stays with the first one.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default the context's search.
  ///   - limit: How long to wait at most; nil for any time. If it is zero or less, the call performs a single lookup.
  ///   - clock: Measures the time.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order.
  /// - Throws: `CancellationError` if the task is cancelled before there is a dependency; ``UDILinkError`` if the
  ///   context that the object is attached to is gone or closed, or is closed meanwhile, or if the time is over. The
  ///   error explains why there is nothing.
  nonisolated(nonsending) public func linkWhenAvailable<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, within limit: Duration? = nil,
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await awaitDependency(type, name, .anywhere, search, within: limit, clock, CallSite(fileID, line))
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIObject {
  /// Does the same as ``updates(of:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  public func updates<Dependency>(
    of type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIMainActorUpdates<Dependency> {
    UDIMainActorUpdates(
      context: context(for: type, name, CallSite(fileID, line), "updates", isRequired: nil), type: type, name: name,
      search: search)
  }

  /// Does the same as ``linkWhenAvailable(_:named:search:within:clock:fileID:line:)`` on the main actor, for a type
  /// that is not `Sendable`.
  @preconcurrency @MainActor
  public func linkWhenAvailable<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, within limit: Duration? = nil,
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await awaitDependency(type, name, .mainActor, search, within: limit, clock, CallSite(fileID, line))
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIObject {
  nonisolated(nonsending) private func awaitDependency<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, within limit: Duration?,
    _ clock: any Clock<Duration>, _ site: CallSite
  ) async throws -> Dependency {
    guard let context = context(for: type, name, site, "linkWhenAvailable", isRequired: true) else {
      throw _attachedContext.goneError(type, name, search, Asker(self, site))
    }
    do { return try await context.awaitDependency(type, name, reach, search, within: limit, clock) } catch {
      throw _attachedContext.explained(error, Asker(self, site))
    }
  }
}
