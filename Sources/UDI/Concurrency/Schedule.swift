/// Points in the library at which a test takes part, so that it decides what happens just there: in debug builds only.
///
/// ```swift
/// Schedule.following({ point in if point == .somePoint { doSomethingElse() } }) { context.link(Service.self) }
/// ```
///
/// A test's hook belongs to its task, and without a task to its thread, so tests that run at the same time do not disturb one another. In
/// release builds no hook exists, and a point compiles to nothing.
package enum Schedule {
  /// A point that a thread can reach. No lock is held there unless the case says so.
  package enum Point: Sendable {
    /// An object's weak reference was loaded, only to look whether the object is alive. The tree lock is held, so a hook must not use the
    /// tree. It may drop references to the object, whose last one is then the library's.
    case loadedToLook
    /// The thread is about to wait for something that another one does: for an instance, or for a storage of the user's.
    case waits
    /// A lookup upwards goes on from a context to its parent. The locks of both are held.
    case climbing
  }

  #if DEBUG
    @TaskLocal private static var hook: (@Sendable (Point) -> Void)?

    /// Runs an operation, and calls a hook at each point that it reaches.
    package static func following<Result>(
      _ hook: @escaping @Sendable (Point) -> Void, operation: () throws -> Result
    ) rethrows -> Result {
      try $hook.withValue(hook, operation: operation)
    }

    /// Runs an asynchronous operation, and calls a hook at each point that it, or a task it starts, reaches.
    nonisolated(nonsending) package static func following<Result>(
      _ hook: @escaping @Sendable (Point) -> Void, operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
      try await $hook.withValue(hook) { try await operation() }
    }
  #endif

  /// Notes that this thread has reached a point.
  @inline(__always)
  static func reached(_ point: Point) {
    #if DEBUG
      hook?(point)
    #endif
  }
}
