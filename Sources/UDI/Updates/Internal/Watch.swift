/// A consumer's hold on its watcher. When it is released, the watcher stops watching.
final class Watch: Sendable {
  private let watcher: Watcher
  /// Written once, before anybody else has the watch. Weak, so that waiting for updates keeps no context alive.
  private nonisolated(unsafe) weak var watched: UDIContext?

  init(_ context: UDIContext, _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?) {
    PerThread.prepare()
    watcher = Watcher(.of(.of(type), name), search)
    unsafe watched = context
    context.change { node, _ in node.enter(watcher) }
  }

  deinit { Tree.change { _ in watcher.leave() } }

  /// Waits until a lookup may find something else.
  ///
  /// - Parameter seen: The counts that the caller has seen.
  /// - Returns: The context to look up from, and the counts then; nil if the context is gone or the task is cancelled.
  nonisolated(nonsending) func nextChange(after seen: Watcher.ChangeCounts) async -> (UDIContext, Watcher.ChangeCounts)?
  {
    guard let change = await watcher.nextChange(after: seen), let context = unsafe watched else { return nil }
    // The lookup may now go through other contexts than before. The watcher is entered before the lookup, so that no
    // change is missed in between.
    context.change { node, _ in node.enter(watcher) }
    return (context, change)
  }

  /// Looks up the dependency on behalf of the watcher.
  ///
  /// - Parameters:
  ///   - isKeptOnly: Whether to look only at what is there, and to ask no provider unless it is new to the watcher.
  ///   - last: Where the answer of the last lookup came from; replaced by the source of this one.
  /// - Returns: What was found; an outer nil if that is nothing new.
  func lookUp<Dependency>(
    _ context: UDIContext, _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    keptOnly isKeptOnly: Bool,
    _ last: inout LastLook
  ) -> Dependency?? {
    isKeptOnly
      ? find(context, type, name, reach, search, keptOnly: true, &last)
      : looking { find(context, type, name, reach, search, keptOnly: false, &last) }
  }

  private func find<Dependency>(
    _ context: UDIContext, _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    keptOnly isKeptOnly: Bool, _ last: inout LastLook
  ) -> Dependency?? {
    var found: Dependency?
    let answer = unsafe withUnsafeMutablePointer(to: &found) {
      unsafe context.answer(type, name, reach, search, afterSetUpInto: UnsafeMutableRawPointer($0))
    }
    switch answer {
    case .provided(let entry):
      if entry.registered.isRefused(to: reach) { return .some(nil) }
      if isKeptOnly, !last.isNew(entry) { return nil }
      found =
        isKeptOnly ? looking { context.lookUp(entry, type, reach, search) } : context.lookUp(entry, type, reach, search)
      last.note(entry)
      return .some(found)
    case .object(let object): found = object as? Dependency
    // The last two never come from a context: it withdraws what is dead, and runs set-up blocks.
    case .written, .nothing, .dead, .setUpPending: break
    }
    context.withNode { last.note(watcher.key, search, from: $0, isKeptOnly: isKeptOnly) }
    return .some(found)
  }

  /// Runs a part of a lookup that can change the tree. Its changes are not new to the watcher, and the entries that it
  /// adds are marked, see `ChangeKind`.
  private func looking<Result>(_ body: () -> Result) -> Result {
    let thread = currentThread()
    Tree.change { _ in watcher.looker = thread }
    defer { Tree.change { _ in watcher.looker = 0 } }
    return PerThread.resolution.object.looking(true, body)
  }
}
