/// A handle for the calls that ``UDIObject/follow(_:named:search:isolation:fileID:line:_:)`` makes.
///
/// You need not keep the handle: releasing it does not end the calls.
public struct UDIFollowing: Sendable {
  let watcher: Watcher

  /// Ends the calls.
  ///
  /// On the actor of the closure, no call begins after this one. A closure that belongs to no actor may still be
  /// running on another thread.
  public func cancel() { Tree.change { _ in watcher.stop() } }
}

extension Consumer {
  /// Lets a task of its own wait for changes. Its looks and steps see the `AppContext` and the reporter of the current
  /// task. It has none of that task's other values, and keeps only the reporter alive.
  ///
  /// - Parameters:
  ///   - actor: The actor on which the task looks, and takes steps; asked after each change.
  ///   - isLazy: As for `Watcher.news`.
  ///   - step: Called after each change, until it returns false, with the dependencies that have been found; and with
  ///     nil at the end.
  func follow(
    on actor: @escaping @Sendable () -> (any Actor)?, looksOnlyIfInDoubt isLazy: Bool = false,
    _ step: ActorOwned<([Watcher.Found]?) -> Bool>
  ) -> UDIFollowing {
    let reporter = UDIReporter.ofTask
    @Sendable func take(_ hasChanged: Bool, in root: UDIContext?, on actor: isolated (any Actor)?) async -> Bool {
      await roots.ofTask.withValue(root) {
        await UDIReporter.scoped.ofTask.withValue(reporter) {
          await watcher.news(after: hasChanged, onlyIfInDoubt: isLazy, on: actor).map(step.value) ?? true
        }
      }
    }
    Task.detached { [weak root = roots.ofTask.get()] in
      while await take(self.watcher.nextChange(), in: root, on: actor()) {}
    }
    return UDIFollowing(watcher: watcher)
  }
}
