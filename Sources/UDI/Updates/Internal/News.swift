/// The watchers that a change is of interest to. They are woken when it is let go of, as part of the change's garbage: waking runs
/// code of the user's, an executor's for example.
final class News {
  var watchers: [(Watcher, Tidings)]
  init(_ first: (Watcher, Tidings)) { watchers = [first] }
  deinit { for (watcher, tidings) in watchers { watcher.wake(tidings) } }
}

/// What a watcher is told.
enum Tidings {
  /// A lookup may give another answer.
  case change
  /// A provider keeps something now. Who wants to know looks at that, and has nothing made: where nobody holds what is kept weakly,
  /// several who looked would have one made after the other for ever.
  case keeping
  /// Nothing: a provider keeps something no more, and would make the next one when it is asked.
  case nothing
}
