import Dispatch

/// Whether code runs on the main actor, asked at run time.
///
/// It is code of the main queue, the main actor's executor on all platforms here, which carries a mark; or code on the process's first
/// thread, also in another queue's `sync`: while a program uses that thread it is the main queue's own. Swift's own check, which stops the
/// program, says the same. But on Linux a program with an asynchronous `main` gives that thread up, and other threads serve the main queue
/// from then on. Where one of these is in another queue's `sync` this says no, and Swift yes. It never says yes where Swift says no.
@usableFromInline
enum MainActorCheck {
  private static let mark: DispatchSpecificKey<Void> = {
    let mark = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: mark, value: ())
    return mark
  }()

  static var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mark) != nil || isFirstThread }

  /// Whether a dependency that is not `Sendable` may be used here.
  ///
  /// - Parameters:
  ///   - type: The type of the dependency.
  ///   - place: Where it is used, for the message.
  /// - Returns: True. Elsewhere this stops the program.
  @usableFromInline
  static func isIsolated(_ type: Any.Type, _ place: @autoclosure () -> String = "") -> Bool {
    if isOnMainActor { return true }
    // The runtime has the last word: it knows all ways to be on the main actor. Where this is not the main actor it stops the program, so
    // the message comes first.
    writeToStandardError(
      """
      \(place())\(String(reflecting: type)) is not Sendable, so it can be bound, registered, looked up and used on the main actor only. \
      Make the type Sendable, or do this on the main actor.
      """)
    MainActor.preconditionIsolated()
    return true
  }
}
