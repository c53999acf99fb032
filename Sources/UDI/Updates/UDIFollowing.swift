/// The calls that ``UDIObject/follow(_:named:search:isolation:fileID:line:_:)`` makes. You need not keep this: releasing
/// it ends nothing.
public struct UDIFollowing: Sendable {
  let watcher: Watcher

  /// Ends the calls. On the actor of the closure, no call comes after this one.
  public func cancel() { Tree.change { _ in watcher.stop() } }
}

extension Watcher {
  typealias Step = nonisolated(nonsending) ([Found]) async -> Bool

  /// Passes on each new answer.
  func follow(on actor: isolated (any Actor)?, _ consumer: Consumer, _ step: ActorOwned<Step>) async {
    while let found = await next() { if await !step.value(found) { return } }
    // The context is closed or gone, unless the watcher has been stopped.
    if last?.isEmpty == false { _ = await step.value([]) }
  }
}
