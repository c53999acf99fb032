/// The kinds of changes that watchers are notified of.
///
/// A watcher's lookup can itself change the tree. For example, a provider makes an instance, the instance binds itself,
/// and the binding is withdrawn when the consumer drops the instance. If each of these changes led to another full
/// lookup, a consumer would keep itself busy for ever although nobody else changes anything. Therefore an entry that is
/// added during a watcher's lookup is marked (`Entry.comesFromLook`). When a marked entry is added or removed, whatever
/// the cause, watchers are notified only of `.keptOnly`. Changes that happen only once are not marked: what set-up
/// blocks do, and what happens while a context makes an instance that it keeps.
enum ChangeKind {
  /// A lookup might give another answer.
  case answer
  /// A provider might keep another instance than before. The consumer looks only at what is already there, and lets no
  /// provider make anything.
  case keptOnly
  /// Watchers are not notified. A provider has dropped the instance that it kept, and makes the next one only when a
  /// lookup asks for it.
  case ignored

  /// What watchers are notified of when an entry is added or removed.
  static func of(_ entry: Entry) -> ChangeKind { entry.comesFromLook ? .keptOnly : .answer }
}

/// The watchers that a change might affect, and the tasks that waited for it. This object belongs to the change's
/// garbage, and notifies or resumes them when it is released. By then, no lock is held, which is necessary because this
/// runs user code, for example an executor's.
final class Notifications {
  var watchers: [(Watcher, ChangeKind)] = []
  var tasks: [CheckedContinuation<Void, Never>] = []

  deinit {
    for (watcher, kind) in watchers { watcher.notify(of: kind) }
    for task in tasks { task.resume() }
  }
}
