import Dispatch

/// Whether code runs on the main actor, asked at run time.
///
/// Through a mark on the main queue, the main actor's executor on all platforms here. It may say no to code that is on the main
/// thread in some other way, in another queue's `sync` for example, but never yes to code that is not on the main actor.
@usableFromInline
enum MainActorCheck {
  private static let mark: DispatchSpecificKey<Void> = {
    let mark = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: mark, value: ())
    return mark
  }()

  static var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mark) != nil }

  /// Whether a dependency that is not `Sendable` may be used here.
  ///
  /// - Parameters:
  ///   - type: The type of the dependency.
  ///   - place: Where it is used, for the message.
  /// - Returns: True. Elsewhere this stops the program.
  @usableFromInline
  static func isIsolated(_ type: Any.Type, _ place: @autoclosure () -> String = "") -> Bool {
    if isOnMainActor { return true }
    // The runtime has the last word: it knows all ways to be on the main actor, another queue's `sync` among them. Where this is not
    // the main actor it stops the program, so the message comes first.
    writeToStandardError(
      """
      \(place())\(String(reflecting: type)) is not Sendable, so it can be bound, registered, looked up and used on the main actor only. \
      Make the type Sendable, or do this on the main actor.
      """)
    MainActor.preconditionIsolated()
    return true
  }
}
