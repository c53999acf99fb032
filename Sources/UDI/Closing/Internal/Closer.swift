/// The part of a provider that closing its context needs: the closures that `onClose` and `running` were given, and the
/// instances that have yet to be closed.
package final class Closer: @unchecked Sendable {
  // Unchecked: the tree lock guards all mutable properties. Accesses under it cannot overlap, so those that closing
  // makes are not checked for that: see `ClosingRun`.

  /// A closure of the user, without its types. When it is called, it moves to the actor that it belongs to.
  typealias Body = ActorOwned<nonisolated(nonsending) @Sendable (Instance) async throws -> Void>

  /// The closure of `onClose`; nil if there is none.
  @safe @exclusivity(unchecked) var close: Body?
  /// The closure of `running`, and whether the operation may end before the context is closed; nil if there is none.
  var operation: (body: Body, mayEnd: Bool)?
  /// The instances that have to be closed, in the order in which they were made.
  @safe @exclusivity(unchecked) var unclosed: [Unclosed] = []
  /// Whether the context is being closed. If it is, `close()` calls the closer, so instances that leave the provider
  /// are not reported as unclosed.
  @safe @exclusivity(unchecked) var isClosing = false
  /// Whether a warm-up that was cancelled has left the operations of instances to the next warm-up.
  var hasPutOffOperations = false
  /// The reporter of the task that first called `onClose` or `running`. It is stored, because a `deinit` on the main
  /// actor hides task-local values, such as the reporter, from objects that it releases. In a module with main-actor
  /// default isolation, even an implicit `deinit` is one of these.
  let reporter: UDIReporter?

  init(_ reporter: UDIReporter? = .ofTask) { self.reporter = reporter }

  /// The same closures, for a provider with instances of its own.
  var forAnotherProvider: Closer {
    let other = Closer(reporter)
    (other.close, other.operation) = (close, operation)
    return other
  }

  /// The instance, converted to the type of the alias whose closure takes it.
  ///
  /// - Throws: An error if the instance does not have the type of the alias.
  @inline(never)
  private static func converted<Dependency>(_ instance: Instance) throws -> Dependency {
    if let dependency = instance.value(as: Dependency.self, isExact: false) { return dependency }
    let cause = UDIExplanation.Cause.notConvertible(from: TypeIdentity.of(type(of: instance.anyValue)).text)
    throw UDILinkError(UDIExplanation(Dependency.self, named: nil, search: .local, cause: cause))
  }

  /// Erases the type of a closure for a `Sendable` dependency.
  static func body<Dependency: Sendable>(
    _ function: @escaping @Sendable @isolated(any) (Dependency) async throws -> Void, isExact: Bool
  ) -> Body {
    let body: nonisolated(nonsending) @Sendable (Instance) async throws -> Void = { instance in
      try await function(isExact ? instance.exact() : converted(instance))
    }
    return ActorOwned(body, by: function.isolation)
  }

  /// Does the same for a dependency that need not be `Sendable`. The closure runs on the main actor.
  ///
  /// - Precondition: The function belongs to no actor other than the main actor.
  @MainActor
  static func bodyOnMainActor<Dependency>(
    _ function: @escaping @isolated(any) (Dependency) async throws -> Void, isExact: Bool, _ site: UDICallSite
  ) -> Body {
    _ = Isolation.onMainActor(function.isolation, at: site)
    let plain = MainActorFunction(function)
    let body = { @MainActor @Sendable (instance: Instance) async throws in
      try await plain.call(isExact ? instance.exact() : converted(instance), ())
    }
    return ActorOwned(body, by: MainActor.shared)
  }
}

/// An instance that its context has to close, and its operation, once that has begun.
typealias Unclosed = (instance: OwnedInstance, operation: Operation?)
