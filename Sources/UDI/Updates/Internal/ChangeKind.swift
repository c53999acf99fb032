/// What kind of change a watcher is notified of.
///
/// A watcher's lookup can itself change the tree: for example, a provider makes an instance, which binds itself, and is
/// withdrawn when the consumer drops it. If each of these changes led to another full lookup, a consumer would keep
/// itself busy for ever although nobody else changes anything. So an entry that appears during a watcher's lookup is
/// marked (`Entry.comesFromLook`). When such an entry appears or goes, whoever causes that, watchers are only notified
/// of `.keptOnly`. Changes that happen only once are not marked: what set-up blocks do, and what happens while a
/// context makes an instance that it keeps.
enum ChangeKind {
  /// A lookup may give another answer.
  case answer
  /// A provider may keep another instance. The watcher looks only at what is there, and makes nothing.
  case keptOnly
  /// Watchers are not notified: a provider has let go of what it kept, and makes the next instance when it is asked.
  case ignored

  /// What watchers are notified of when an entry appears or goes.
  static func of(_ entry: Entry) -> ChangeKind { entry.comesFromLook ? .keptOnly : .answer }
}

/// The watchers that a change may affect. They are notified when this object is released with the change's garbage, and
/// so while no lock is held: a notification runs user code, for example an executor's.
final class Notifications {
  var watchers: [(Watcher, ChangeKind)]
  init(_ first: (Watcher, ChangeKind)) { watchers = [first] }
  deinit { for (watcher, kind) in watchers { watcher.notify(of: kind) } }
}
