/// The watchers that a change concerns. They are woken when this is released with the change's garbage, and so under no lock: waking runs
/// the user's code, for example an executor's.
final class News {
  var watchers: [(Watcher, Tidings)]
  init(_ first: (Watcher, Tidings)) { watchers = [first] }
  deinit { for (watcher, tidings) in watchers { watcher.wake(tidings) } }
}

/// What a watcher is told.
///
/// A look for a watcher can change the tree: a provider makes an instance, for example, which binds itself, and is withdrawn when the
/// consumer drops it. If each of these changes led to another full look, a consumer would keep itself busy for ever although nobody else
/// changes anything. So what comes from a look is marked (`Entry.comesFromLook`), and when it appears or goes, whoever causes that,
/// watchers are told `.keeping` only. What happens only once is not marked: what set-up blocks do, and what happens while a context makes
/// an instance that it keeps.
enum Tidings {
  /// A lookup may give another answer.
  case change
  /// There may be another instance. The watcher looks at what is there, and makes nothing.
  case keeping
  /// Nothing: a provider has let go of what it kept, and makes the next one when it is asked.
  case nothing
}

extension Tidings {
  /// What watchers are told when an entry appears or goes.
  static func of(_ entry: Entry) -> Tidings { entry.comesFromLook ? .keeping : .change }
}
