/// Points in the library at which a test can run its own code. They exist only in debug builds.
///
/// ```swift
/// Schedule.$hook.withValue({ if $0 == .somePoint { doSomethingElse() } }) { context.link(Service.self) }
/// ```
///
/// A test's hook belongs to its task, or to its thread if there is no task, so tests that run at the same time do not
/// affect one another. In release builds there are no hooks, and a point compiles to nothing.
///
/// The thread that reaches a point holds no lock there unless the case says so.
package enum Schedule: Sendable {
  /// The library has loaded an object from a weak reference only to look at it, for example to check whether it is
  /// alive. The tree lock is held, so a hook must not use the tree. A hook may release all other references to the
  /// object, so that the library holds the last one.
  case loadedToLook
  /// The thread is about to be blocked, or the task to be suspended, until an activity has ended (see `Activity`).
  /// Examples are the making of an instance, and a run of `close()`.
  case waits
  /// The task that makes an instance with an asynchronous factory has been started, and its creation refers to it.
  case storesTask
  /// A consumer has looked something up, and is about to compare the answer with the last one.
  case hasLooked
  /// A consumer, or a call of `whileAvailable`, is about to check whether there is a change. If there is none, it is
  /// suspended until there is one.
  case awaitsChange
  /// A lookup upwards is moving on from a context to the next one above. The locks of both contexts are held.
  case climbing

  #if DEBUG
    /// The closure that is called at each point that the current task, or a task that it starts, reaches.
    @TaskLocal package static var hook: (@Sendable (Schedule) -> Void)?
  #endif

  /// Calls the hook, if there is one, because this thread has reached a point.
  @inline(__always)
  static func reached(_ point: Schedule) {
    #if DEBUG
      hook?(point)
    #endif
  }
}
