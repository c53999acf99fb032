/// Starts a task, with the task-local values of the current one.
///
/// - Parameter isHere: Whether the task may begin on this thread, until it first waits. A request that closes something
///   then takes half the time ("request-close" of `Benchmarks/Hits`). This must be false on an actor, because others
///   might need the actor meanwhile.
func startTask(here isHere: Bool, _ body: sending @escaping @isolated(any) () async -> Void) -> Task<Void, Never> {
  // A task that begins here must not be taken for a part of this thread's work, nor exhaust its stack.
  guard isHere, #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *),
    Resolution.current.read({
      unsafe $0.frames.isEmpty && $0.creation == nil && $0.orphans == nil && !$0.isLooking && !$0.isTelling
        && !$0.isStackLow()
    })
  else { return Task(operation: body) }
  return Task.immediate(operation: body)
}
