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
  /// - Parameter seen: What was told and seen before.
  /// - Returns: The context to look up from, and what is seen then; nil if the context is gone, or the task cancelled.
  nonisolated(nonsending) func nextChange(after seen: Watcher.Told) async -> (UDIContext, Watcher.Told)? {
    guard let change = await watcher.nextChange(after: seen), let context = unsafe watched else { return nil }
    // The lookup may take another way than before. Entered first and looked up afterwards, so that no change falls in between.
    context.change { node, _ in node.enter(watcher) }
    return (context, change)
  }

  /// Looks up for the watcher.
  ///
  /// - Parameter isKeptOnly: Whether to look only at what is there, and have nothing made.
  /// - Returns: What is found; an outer nil where it would have to be made.
  func lookUp<Dependency>(
    _ context: UDIContext, _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    keptOnly isKeptOnly: Bool
  ) -> Dependency?? {
    let thread = currentThread()
    Tree.change { _ in watcher.looker = thread }
    defer { Tree.change { _ in watcher.looker = 0 } }
    guard isKeptOnly else { return .some(context.lookUp(type, name, reach, search)) }
    var found: Dependency?
    switch unsafe context.look(for: &found, type, name, reach, search) {
    case .object(let object): return .some(object as? Dependency)
    case .provided(let entry):
      if entry.registered.isRefused(to: reach) { return .some(nil) }
      return entry.kind == .boxed ? .some(context.lookUp(entry, type, reach, search)) : nil
    case .written, .nothing, .dead, .asleep: return .some(found)
    }
  }
}
