/// Releases an object on the main actor: at once where the caller is on it, otherwise as soon as the main actor is free.
///
/// The caller must hold no other reference, or the last one may be released elsewhere after all: pass the object with
/// `consume`. Not to be called under a lock. Where the main actor never runs again, the object is never released.
///
/// - Parameter object: The object, which need not be `Sendable`.
func releaseOnMainActor(_ object: consuming AnyObject) {
  if MainActorCheck.isOnMainActor {
    _ = consume object
    return
  }
  let parcel = Parcel(consume object)
  Task.detached { @MainActor in parcel.empty() }
}

/// Takes one object to the main actor.
private final class Parcel: @unchecked Sendable {
  // Unchecked: the thread that makes it only hands it over, and the main actor alone touches the object afterwards.
  private var content: AnyObject?

  init(_ content: consuming AnyObject) { self.content = content }

  /// Releases the object here and now. The closure of a task may be destroyed on any thread; by then nothing is left in it.
  @MainActor func empty() { content = nil }
}
