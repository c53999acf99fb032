/// The calls that ``UDIObject/follow(_:named:search:isolation:fileID:line:_:)`` makes. You need not keep this:
/// releasing it ends nothing.
public struct UDIFollowing: Sendable {
  let watcher: Watcher

  /// Ends the calls. On the actor of the closure, no call comes after this one.
  public func cancel() { Tree.change { _ in watcher.stop() } }
}

extension Consumer {
  /// Lets a task of its own wait for changes.
  ///
  /// - Parameters:
  ///   - attachment: That of the object for which this waits, if any. When the object is attached again, detached or
  ///     released, the waiting ends.
  ///   - stamp: The attachment's `stamp` before the context for the lookup was found.
  ///   - actor: Where the task waits and looks, and where `step` is called.
  ///   - isLazy: As for `Watcher.next`.
  ///   - step: Called after each change, until it returns false, with what has been found; and with nil at the end.
  func follow(
    for attachment: UDIAttachment?, since stamp: UInt, on actor: (any Actor)?, looksOnlyIfInDoubt isLazy: Bool = false,
    _ step: @escaping ([Watcher.Found]?) -> Bool
  ) {
    attachment?.add(watcher, since: stamp)
    // What the closure captures is released on its actor.
    let step = ActorOwned(step, by: actor)
    @Sendable func run(on actor: isolated (any Actor)?) async {
      while case let found = await watcher.next(looksOnlyIfInDoubt: isLazy), step.value(found), found != nil {}
    }
    Task.detached { await run(on: actor) }
  }
}
