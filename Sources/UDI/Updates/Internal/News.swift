/// The watchers that a change is of interest to. They are woken when it is let go of, as part of the change's garbage: waking runs
/// code of the user's, an executor's for example.
final class News {
  var watchers: [(Watcher, Tidings)]
  init(_ first: (Watcher, Tidings)) { watchers = [first] }
  deinit { for (watcher, tidings) in watchers { watcher.wake(tidings) } }
}

/// What a watcher is told.
///
/// To look for a watcher can change the tree: a provider makes an instance, which binds itself, for example, and is withdrawn when the
/// consumer drops it. If watchers answered such changes with a full look each, a consumer would keep itself busy for ever, although
/// nobody else changes anything. So what comes from a look is marked (`Entry.comesFromLook`), and watchers are told of it as `.keeping`
/// when it appears and when it goes, whoever causes that. What has always been there, or is done once and for all, is not marked: what
/// set-up blocks do, and what happens while a context makes an instance that it keeps.
enum Tidings {
  /// A lookup may give another answer.
  case change
  /// What is there may be something else. The watcher looks at that, and has nothing made.
  case keeping
  /// Nothing: a provider has let go of what it kept, and would make the next one when it is asked.
  case nothing
}

extension Tidings {
  /// What watchers are told when an entry appears or goes.
  static func of(_ entry: Entry) -> Tidings { entry.comesFromLook ? .keeping : .change }
}
