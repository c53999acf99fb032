/// The watchers that a change concerns. They are notified when this is released with the change's garbage, and so under no lock: that runs
/// the user's code, for example an executor's.
final class Notifications {
  var watchers: [(Watcher, ChangeKind)]
  init(_ first: (Watcher, ChangeKind)) { watchers = [first] }
  deinit { for (watcher, kind) in watchers { watcher.notify(of: kind) } }
}

/// What kind of change a watcher is notified of.
///
/// A look for a watcher can change the tree: a provider makes an instance, for example, which binds itself, and is withdrawn when the
/// consumer drops it. If each of these changes led to another full look, a consumer would keep itself busy for ever although nobody else
/// changes anything. So what comes from a look is marked (`Entry.comesFromLook`), and when it appears or goes, whoever causes that,
/// watchers are notified of `.keptOnly` only. What happens only once is not marked: what set-up blocks do, and what happens while a
/// context makes an instance that it keeps.
enum ChangeKind {
  /// A lookup may give another answer.
  case answer
  /// There may be another instance. The watcher looks at what is there, and makes nothing.
  case keptOnly
  /// Nothing: a provider has let go of what it kept, and makes the next one when it is asked.
  case ignored
}

extension ChangeKind {
  /// What watchers are notified of when an entry appears or goes.
  static func of(_ entry: Entry) -> ChangeKind { entry.comesFromLook ? .keptOnly : .answer }
}
