/// The calls that ``UDIObject/follow(_:named:search:isolation:fileID:line:_:)`` makes. You need not keep this:
/// releasing it ends nothing.
public struct UDIFollowing: Sendable {
  let watcher: Watcher

  /// Ends the calls. On the actor of the closure, no call comes after this one. A closure of no actor may be running on
  /// another thread.
  public func cancel() { Tree.change { _ in watcher.stop() } }
}

extension Consumer {
  /// Lets a task of its own wait for changes.
  ///
  /// - Parameters:
  ///   - actor: Where the task waits and looks.
  ///   - callee: The actor on which `step` is called; if this is nil, `actor`.
  ///   - isLazy: As for `Watcher.next`.
  ///   - step: Called after each change, until it returns false, with what has been found; and with nil at the end.
  func follow(
    on actor: (any Actor)?, calling callee: @escaping @Sendable () -> (any Actor)? = { nil },
    looksOnlyIfInDoubt isLazy: Bool = false, _ step: @escaping ([Watcher.Found]?) -> Bool
  ) {
    // What the closure captures is released on its actor.
    let step = ActorOwned(step, by: actor)
    @Sendable func run(on actor: isolated (any Actor)?) async {
      while case let found = await watcher.next(looksOnlyIfInDoubt: isLazy),
        await take(step, with: found, on: callee() ?? actor)
      {}
    }
    Task.detached { await run(on: actor) }
  }

  private func take(
    _ step: ActorOwned<([Watcher.Found]?) -> Bool>, with found: [Watcher.Found]?, on _: isolated (any Actor)?
  ) -> Bool { step.value(found) }
}
