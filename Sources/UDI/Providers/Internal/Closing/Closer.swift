/// The closure that `register` or `provide` was given as `onClose`, and the instances for which it has not been called
/// yet.
final class Closer: @unchecked Sendable {
  // Unchecked: `body` is written only in `deinit`; the tree lock guards everything else.

  /// The closure, without its types. When it is called, it moves to the actor that it belongs to.
  typealias Body = @Sendable (Instance) async throws -> Void

  /// Nil only during `deinit`.
  private var body: Body?
  /// The actor on which the closure has to be released, because it might hold objects that are not `Sendable`.
  private let actor: (any Actor)?
  /// Whether the provider serves an instance that `provide` was given. Such a provider never makes another instance,
  /// and a reset does not drop the one that it has.
  let isOfProvided: Bool
  /// The instances that have to be closed. Their numbers give the order.
  var unclosed: [Unclosed] = []
  /// Whether the context is being closed. If it is, `close()` calls the closer, so instances that leave the provider
  /// are not reported as unclosed.
  var isClosing = false

  private init(_ body: @escaping Body, releasedOn actor: (any Actor)?, isOfProvided: Bool) {
    self.body = body
    self.actor = actor
    self.isOfProvided = isOfProvided
  }

  deinit {
    guard let actor else { return }
    _ = ActorOwned(body.take(), by: actor)
  }

  func close(_ instance: Instance) async throws { try await body?(instance) }
}

extension Closer {
  /// Makes a closer for a `Sendable` dependency; nil if there is no closure.
  static func of<Dependency: Sendable>(
    _ close: (@Sendable @isolated(any) (Dependency) async throws -> Void)?, isOfProvided: Bool = false
  ) -> Closer? {
    guard let close else { return nil }
    let body: Body = { instance in
      if let dependency = instance.value(as: Dependency.self, isExact: true) { try await close(dependency) }
    }
    return Closer(body, releasedOn: close.isolation, isOfProvided: isOfProvided)
  }

  /// Makes a closer for a dependency that need not be `Sendable`; nil if there is no closure. The closure runs on the
  /// main actor.
  ///
  /// - Precondition: The closure belongs to no actor other than the main actor.
  @MainActor
  static func onMainActor<Dependency>(
    _ close: (@isolated(any) (Dependency) async throws -> Void)?, isOfProvided: Bool = false, _ site: UDICallSite
  ) -> Closer? {
    guard let close else { return nil }
    _ = Isolation.onMainActor(close.isolation, nil, site)
    let plain = MainActorFunction(close)
    let body: @MainActor @Sendable (Instance) async throws -> Void = { instance in
      guard let dependency = instance.value(as: Dependency.self, isExact: true) else { return }
      try await plain.call(ArgumentPack(dependency))
    }
    return Closer(body, releasedOn: MainActor.shared, isOfProvided: isOfProvided)
  }
}

/// An instance that its context has to close, and its number. Such instances are numbered in the order in which they
/// were made, in all contexts together.
typealias Unclosed = (instance: OwnedInstance, number: UInt64)
