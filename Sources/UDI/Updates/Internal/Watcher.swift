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

  /// The change that the consumer has not seen yet. A new watcher has one, so that the consumer performs a lookup at
  /// once. Guarded by the tree lock.
  private var change: ChangeKind? = .answer
  /// Whether the consumer has waited long enough. Guarded by the tree lock.
  private var isLate = false
  private let changes = Activity()

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
    while !Task.isCancelled {
      Schedule.reached(.awaitsChange)
      let (kind, number) = Tree.change { _ -> (ChangeKind?, UInt64) in
        let kind = change == .end ? .end : change.take() ?? (isLate ? .end : nil)
        return (kind, kind == nil ? changes.add(.task(nil, through: [])) : 0)
      }
      if let kind { return kind == .end ? nil : kind }
      await changes.waitUnlessCancelled(number)
    }
    return nil
  }

  /// Whether a task is waiting for a change. Called under the tree lock.
  var isAwaited: Bool { changes.isWanted }

  /// Records a change and resumes the waiting tasks. Called under the tree lock.
  func notify(of kind: ChangeKind) {
    change = max(change ?? kind, kind)
    changes.wakeForChange()
  }

  /// Ends the waiting. Called under the tree lock.
  func expire() {
    isLate = true
    changes.wakeForChange()
  }
}
