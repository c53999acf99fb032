import Dispatch

private let mainActorMark: DispatchSpecificKey<Void> = {
  let mark = DispatchSpecificKey<Void>()
  DispatchQueue.main.setSpecific(key: mark, value: ())
  return mark
}()

/// Whether this code runs on the main actor, checked at run time.
///
/// Code runs on the main actor if it runs on the main queue, which is the main actor's executor on all our platforms.
/// The check recognises the main queue by a mark. It also says yes for the process's first thread, even inside another
/// queue's `sync`: as long as the program uses its first thread, that thread belongs to the main queue.
///
/// Swift's own check stops the program instead of returning an answer. Both checks agree, with one exception. On Linux,
/// a program with an asynchronous `main` gives up its first thread, and other threads serve the main queue from then
/// on. If one of these threads is in another queue's `sync`, this check says no and Swift's says yes. This check never
/// says yes where Swift's says no.
var runsOnMainActor: Bool { DispatchQueue.getSpecific(key: mainActorMark) != nil || isFirstThread }

/// Checks whether a dependency that is not `Sendable` may be used here.
///
/// - Parameters:
///   - type: The type of the dependency.
///   - place: Where the dependency is used, for the message.
/// - Returns: True. If the code is not on the main actor, the program stops instead.
@usableFromInline
func isIsolatedToMainActor(_ type: Any.Type, _ place: @autoclosure () -> String = "") -> Bool {
  if runsOnMainActor { return true }
  // The runtime decides, because it recognises every way in which code can be on the main actor. If this code is not on
  // the main actor, the runtime stops the program, so the message is written first. (In the exceptional case that is
  // described above, the message is written although the program goes on.)
  writeToStandardError(
    """
    \(place())\(describeType(type)) is not Sendable, so it can be bound, registered, looked up and used on the \
    main actor only. Make the type Sendable, or do this on the main actor.
    """)
  MainActor.preconditionIsolated()
  return true
}
