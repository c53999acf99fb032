/// What a lookup gives, now and after each change: the dependency, or nil while there is none.
///
/// ```swift
/// for await player in context.updates(of: (any Player).self) {
///   title = player?.title ?? "nothing plays"
/// }
/// ```
///
/// The first element comes at once. Then there is one whenever the lookup would give something else: because something was bound, withdrawn or
/// registered, because an object died, or because contexts moved. (The death of an object that is no ``UDIObject`` shows when it
/// is next touched.) A consumer that is busy meanwhile gets the latest state, not each on the way there. The sequence ends when the task is
/// cancelled or the context gone: neither the sequence nor its iteration keeps that alive, nor what was given. A value that a factory makes is
/// news each time that a change makes the sequence look, since values cannot be told apart.
///
/// What a consumer brings about by looking is not a change: a provider makes an instance for it, the instance binds itself, and it dies
/// when the consumer drops it. The provider is not asked again because of that, neither for this consumer nor for another one. While such
/// an instance lives, other consumers are given it.
///
/// Any number of consumers can iterate over it, each for itself. Where there is none it costs nothing.
public struct UDIUpdates<Dependency: Sendable>: Sendable {
  let request: UpdateRequest<Dependency>
}

extension UDIUpdates: AsyncSequence {
  /// Waits for changes on behalf of one consumer.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let state: UpdateState<Dependency>

    /// Waits for the next element; the first is there at once.
    ///
    /// - Parameter actor: The caller's actor, which the lookup runs on.
    /// - Returns: The dependency, or nil inside an optional where there is none; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Dependency?? {
      await state.next()
    }
  }

  /// Begins to watch.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(state: UpdateState(request)) }
}

/// ``UDIUpdates`` of a dependency that is not `Sendable`: to be iterated over on the main actor; otherwise the same.
public struct UDIMainActorUpdates<Dependency>: Sendable {
  let request: UpdateRequest<Dependency>
}

extension UDIMainActorUpdates: @MainActor AsyncSequence {
  /// Waits for changes on behalf of one consumer.
  @MainActor
  public struct AsyncIterator: @MainActor AsyncIteratorProtocol {
    fileprivate let state: UpdateState<Dependency>
    /// It cannot fail.
    public typealias Failure = Never

    /// Waits for the next element; the first is there at once.
    ///
    /// - Returns: The dependency, or nil inside an optional where there is none; nil at the end.
    public mutating func next() async -> Dependency?? { await state.next() }
  }

  /// Begins to watch.
  @MainActor public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(state: UpdateState(request)) }
}

/// What is to be looked up, and from where.
struct UpdateRequest<Dependency>: Sendable {
  /// Weak, so that a sequence that somebody keeps does not keep the context. Where it is gone there is nothing to watch.
  weak let context: UDIContext?
  let name: UDIName?
  let reach: Reach
  let search: UDISearch?
}

/// Where one consumer is. Copies of its iterator share it.
private final class UpdateState<Dependency> {
  private let watch: Watch?
  private let request: UpdateRequest<Dependency>
  private var seen = Watcher.ChangeCounts()
  private var last = LastGiven()
  private var lastLook = LastLook()

  init(_ request: UpdateRequest<Dependency>) {
    watch = request.context.map { Watch($0, Dependency.self, request.name, request.search) }
    self.request = request
  }

  nonisolated(nonsending) func next() async -> Dependency?? {
    guard let watch else { return nil }
    while let (context, counts) = await watch.nextChange(after: seen) {
      let isKeptOnly = counts.answer == seen.answer
      seen = counts
      // A copy: the lookup may run code of the user's.
      var look = lastLook
      let found = watch.lookUp(
        context, Dependency.self, request.name, request.reach, request.search, keptOnly: isKeptOnly, &look)
      lastLook = look
      if let found, last.note(found) { return .some(found) }
    }
    return nil
  }
}
