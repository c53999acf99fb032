/// The closure that `register` or `provide` was given as `onClose`, and what it has to be called with: what the
/// provider has made, or was given, and its context has not closed yet.
final class Closer: @unchecked Sendable {
  // Unchecked: `body` is written only in `deinit`; the tree lock guards everything else.

  /// The closure without its types. It goes to the actor that it belongs to by itself.
  typealias Body = @Sendable (Instance) async throws -> Void

  /// Not nil before `deinit`.
  private var body: Body?
  /// The actor on which the closure has to be released, because it might hold something that is not `Sendable`.
  private let actor: (any Actor)?
  /// Whether the provider gives an instance that `provide` was given. There is only that one, and a reset keeps it.
  let isOfProvided: Bool
  /// What has to be closed, in the order in which it was made.
  var unclosed: [Unclosed] = []
  /// Whether the context is being closed. What leaves the provider from now on is closed, or has been closed.
  var isClosing = false

  /// - Parameter reach: Where the instances may be used.
  private init(_ body: @escaping Body, _ isolation: (any Actor)?, _ reach: Reach, isOfProvided: Bool) {
    self.body = body
    actor = reach == .mainActor ? MainActor.shared : isolation
    self.isOfProvided = isOfProvided
  }

  deinit {
    guard let actor else { return }
    _ = ActorOwned(body.take(), by: actor)
  }

  func close(_ instance: Instance) async throws { try await body?(instance) }
}

extension Closer {
  /// A closer of something that is `Sendable`.
  static func of<Dependency: Sendable>(
    _ close: (@Sendable @isolated(any) (Dependency) async throws -> Void)?, isOfProvided: Bool = false
  ) -> Closer? {
    guard let close else { return nil }
    let body: Body = { instance in
      if let dependency = instance.value(as: Dependency.self, isExact: true) { try await close(dependency) }
    }
    return Closer(body, close.isolation, .anywhere, isOfProvided: isOfProvided)
  }

  /// A closer of something that need not be `Sendable`, so it runs on the main actor.
  ///
  /// - Precondition: The closure belongs to no actor other than the main actor.
  @MainActor
  static func onMainActor<Dependency>(
    _ close: (@isolated(any) (Dependency) async throws -> Void)?, isOfProvided: Bool = false, _ site: CallSite
  ) -> Closer? {
    guard let close else { return nil }
    _ = Isolation.onMainActor(close.isolation, nil, site)
    let plain = OnMainActor(of: AnyIsolation(close: close)).close
    let body: @MainActor @Sendable (Instance) async throws -> Void = { instance in
      if let dependency = instance.value(as: Dependency.self, isExact: true) { try await plain(dependency) }
    }
    return Closer(body, nil, .mainActor, isOfProvided: isOfProvided)
  }

  private struct AnyIsolation<Dependency> {
    let close: @isolated(any) (Dependency) async throws -> Void
  }

  /// The same closure as one of the main actor. An asynchronous function is called in the same way whatever its
  /// isolation, because it goes to its actor by itself.
  private struct OnMainActor<Dependency> {
    let close: @MainActor (Dependency) async throws -> Void

    init(of other: AnyIsolation<Dependency>) { self = unsafe unsafeBitCast(other, to: OnMainActor.self) }
  }
}

/// An instance that its context has to close.
final class Unclosed: @unchecked Sendable {
  // Unchecked: what is mutable is written only in `deinit`.

  /// Not nil before `deinit`.
  private var content: Instance?
  private let reach: Reach
  /// Its place in the order in which the instances that have to be closed were made, in all contexts.
  let sequence: UInt64

  init(_ instance: Instance, _ reach: Reach, sequence: UInt64) {
    content = instance
    self.reach = reach
    self.sequence = sequence
  }

  deinit {
    // The last reference to this can be released on any thread.
    guard reach == .mainActor, let content = content.take() else { return }
    releaseOnMainActor(consume content)
  }

  var instance: Instance { unsafe content.unsafelyUnwrapped }
}
