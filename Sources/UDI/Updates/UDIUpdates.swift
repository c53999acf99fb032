/// The sequence that ``UDILinking/updates(of:named:search:fileID:line:)`` returns.
///
/// Each element is the dependency, or nil while there is none.
///
/// ```swift
/// for await player in context.updates(of: (any Player).self) {
///   title = player?.title ?? "nothing plays"
/// }
/// ```
public typealias UDIUpdates<Dependency: Sendable> = UDIResults<Dependency?>

/// A sequence of the results of a lookup, now and after each change.
///
/// The first element is available at once. After that, there is a new element whenever the lookup would find something
/// else. For example, something was bound, withdrawn or registered, an object was released, or contexts moved. (The
/// release of an object that is not a ``UDIObject`` is noticed only when its binding is next touched.) A consumer that
/// was busy gets only the latest state.
///
/// If a provider's factory belongs to an actor, the instance is made there. An instance of an asynchronous factory is
/// found when ``UDILinking/obtain(_:named:search:fileID:line:)`` has made it.
///
/// The sequence also follows the lookups that a factory performs to make the dependency, even those that find nothing.
/// If a dependency is made of others that come and go, it comes and goes with them. An instance that a context or a
/// scope keeps is found as it is kept. So it does not change with the dependencies that it was made of. If a factory
/// fails for another reason, it is called again after the next change.
///
/// The sequence ends when the task is cancelled, when the context is gone, or when the context begins to be closed.
/// Neither the sequence nor its iterator keeps the context or the found dependency alive.
///
/// An instance that each lookup makes anew counts as new if one of the dependencies that it is made of is found to be
/// different. There is no element for changes that have been undone.
///
/// Changes that a consumer's own lookup makes do not count. For example, a provider makes an instance for the consumer,
/// the instance binds itself, and it is released as soon as the consumer drops it. These changes do not cause the
/// provider to be asked again, either for this consumer or for another. While such an instance is alive, other
/// consumers receive it.
///
/// Any number of consumers can iterate over the sequence independently. A sequence without consumers costs nothing.
public struct UDIResults<Element: Sendable>: AsyncSequence, Sendable {
  /// Begins to watch on behalf of one consumer.
  let watch: @Sendable () -> Consumer
  /// Makes an element of what a lookup has found.
  let element: @Sendable ([Watcher.Found]) -> Element

  /// An iterator that waits for changes on behalf of one consumer.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let consumer: Consumer
    fileprivate let element: @Sendable ([Watcher.Found]) -> Element

    /// Waits for the next element; the first is available at once.
    ///
    /// - Parameter actor: The caller's actor, on which the lookup runs. An instance that only another actor can make is
    ///   made on that actor.
    /// - Returns: The result; nil at the end of the sequence.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
      await consumer.watcher.next().map(element)
    }
  }

  /// Makes an iterator, which begins to watch at once.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(consumer: watch(), element: element) }
}

/// The same as ``UDIResults``, but for dependencies that are not `Sendable`.
///
/// This sequence is iterated over on the main actor.
public struct UDIMainActorResults<Element>: Sendable {
  let watch: @Sendable () -> Consumer
  let element: @MainActor ([Watcher.Found]) -> Element
}

extension UDIMainActorResults: @MainActor AsyncSequence {
  /// An iterator that waits for changes on behalf of one consumer.
  @MainActor
  public struct AsyncIterator: @MainActor AsyncIteratorProtocol {
    fileprivate let consumer: Consumer
    fileprivate let element: @MainActor ([Watcher.Found]) -> Element

    /// Waits for the next element; the first is available at once.
    ///
    /// - Returns: The result; nil at the end of the sequence.
    public mutating func next() async -> Element? { await consumer.watcher.next().map(element) }
  }

  /// Makes an iterator, which begins to watch at once.
  @MainActor public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(consumer: watch(), element: element) }
}
