/// An object that is notified when a lookup might give a different answer than before.
///
/// A watcher learns only that something has changed; its consumer then repeats the lookup. This design has three
/// advantages: a slow consumer costs no memory, nothing is looked up unless a consumer waits, and a superfluous
/// notification does no harm.
final class Watcher: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The key that is looked up. The watcher holds it, so that its id cannot be given to another key.
  let key: KeyIdentity
  /// The direction that the caller has given for the lookup; nil if none was given.
  let search: UDISearch?

  /// The nodes where the watcher is entered. Its lookup begins at the first of them. Guarded by the tree lock.
  var nodes: [Node] = []
  /// The direction of the lookup: `search`, or else the context's own search; `lineage` if `looksOnlyUp`. Guarded by
  /// the tree lock.
  var direction = UDISearch.lineage
  /// Whether a factory performs the lookup, which therefore passes over what it would find below. `direction` is then
  /// `lineage`. Guarded by the tree lock.
  var looksOnlyUp = false
  /// The thread that is running the watcher's lookup now; 0 if there is none. Guarded by the tree lock.
  var looker: UInt = 0
  /// Whether the watcher is included in `count`. Guarded by the tree lock.
  var isEntered = false
  /// The number of watchers that have been entered and have not left since. Guarded by the tree lock.
  @exclusivity(unchecked) nonisolated(unsafe) static var count = 0

  /// The change that the consumer has not seen yet, and whether the consumer has waited long enough. A new watcher has
  /// a change, so that the consumer performs a lookup at once.
  let news = AwaitedState<(change: ChangeKind?, isLate: Bool)>((.answer, false))

  init(_ key: KeyIdentity, _ search: UDISearch?) {
    self.key = key
    self.search = search
  }
}

// MARK: - Waiting

extension Watcher {
  /// Waits until there is a change that the consumer has not seen. If there are copies of an iterator, one of them gets
  /// it.
  ///
  /// - Returns: The kind of change; nil if the context is gone or closed, if the task is cancelled, or if the consumer
  ///   has waited long enough.
  nonisolated(nonsending) func nextChange() async -> ChangeKind? {
    let kind = await news.first { news in
      if news.change == .end { return ChangeKind.end }
      return news.change.take() ?? (news.isLate ? .end : nil)
    }
    return kind == .end ? nil : kind
  }

  /// Records a change and resumes the waiting tasks. Do not call this while holding a lock.
  func notify(of kind: ChangeKind) { news.change { $0.change = max($0.change ?? kind, kind) } }
}
