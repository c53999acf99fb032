/// A consumer's hold on its watcher: when it goes, nobody watches any more.
final class Watch: Sendable {
  private let watcher: Watcher
  /// Written once, before anybody else has the watch. Weak, so that waiting for updates keeps no context alive.
  private nonisolated(unsafe) weak var watched: UDIContext?

  init(_ context: UDIContext, _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?) {
    watcher = Watcher(.of(.of(type), name), search)
    unsafe watched = context
    context.change { node, _ in node.enter(watcher) }
  }

  deinit { Tree.change { _ in watcher.leave() } }

  /// Waits until a lookup may give something else.
  ///
  /// - Parameter seen: The change that was seen last; 0 at first.
  /// - Returns: The context to look up from, and the change that is seen then; nil if the context is gone, or the task cancelled.
  nonisolated(nonsending) func nextChange(after seen: UInt) async -> (UDIContext, UInt)? {
    guard let change = await watcher.nextChange(after: seen), let context = unsafe watched else { return nil }
    // The lookup may take another way than before. Entered first and looked up afterwards, so that no change falls in between.
    context.change { node, _ in node.enter(watcher) }
    return (context, change)
  }
}

/// What a consumer was given last, to tell whether the next is news. It is not kept alive.
struct LastGiven {
  private var isFirst = true
  private weak var object: AnyObject?
  private var wasNothing = true

  /// Notes what a lookup gives.
  ///
  /// - Returns: Whether it is something else than the last time. A value made by a provider always is.
  mutating func note<Dependency>(_ found: Dependency?) -> Bool {
    let new = found.flatMap { StoredForm.of($0, as: Dependency.self)?.object }
    defer {
      isFirst = false
      object = new
      wasNothing = found == nil
    }
    if found == nil { return isFirst || !wasNothing }
    return new == nil || new !== object
  }
}
