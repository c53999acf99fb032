import Dispatch

/// Whether code runs on the main actor, asked at run time.
///
/// Through a mark on the main queue, the main actor's executor on all platforms here. It may say no to code that is on the main
/// thread in some other way, in another queue's `sync` for example, but never yes to code that is not on the main actor.
enum MainActorCheck {
  private static let mark: DispatchSpecificKey<Void> = {
    let mark = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: mark, value: ())
    return mark
  }()

  static var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mark) != nil }
}
