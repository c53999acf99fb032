/// Releases a value on the main actor: at once if the caller is on it, otherwise as soon as the main actor is free.
///
/// The caller must hold no other reference: otherwise the last one might be released elsewhere. So pass the value with
/// `consume`. Do not call this function while holding a lock. If the main actor never runs again, the value is never
/// released.
///
/// - Parameter value: The value, for example an object. It need not be `Sendable`.
func releaseOnMainActor(_ value: consuming Any) {
  let parcel = Parcel()
  parcel.add(consume value)
  parcel.send()
}

/// Carries objects to an actor, usually the main actor, and releases them there.
final class Parcel: @unchecked Sendable {
  // Unchecked: the thread that makes the parcel fills it and sends it; afterwards only the actor touches it.
  private var contents: [Any] = []

  func add(_ value: consuming Any) { contents.append(value) }

  /// Releases the contents on the main actor. Do not call this while holding a lock.
  func send() {
    if MainActorCheck.isOnMainActor { return contents = [] }
    // The rest may be released on any thread: the closure, and this parcel, which is empty by then.
    Task.detached { @MainActor in self.contents = [] }
  }

  /// Releases the contents on the given actor. Do not call this while holding a lock.
  func send(to actor: any Actor) {
    if actor === MainActor.shared { return send() }
    Task.detached { await self.empty(on: actor) }
  }

  private func empty(on actor: isolated any Actor) { contents = [] }
}

/// Owns a value on behalf of an actor: wherever the last reference to this object is released, the value is released on
/// the actor.
///
/// This is for a value that refers to objects that are not `Sendable`, but is held by a `Sendable` object and so may be
/// released on any thread.
@usableFromInline
final class ActorOwned<Value>: @unchecked Sendable {
  // Unchecked: the value is used only on the actor. Whoever reads it makes sure of that.
  private var content: Value?
  private let actor: any Actor

  init(_ value: consuming Value, by actor: any Actor) {
    content = value
    self.actor = actor
  }

  /// Owns a value on behalf of the main actor.
  @usableFromInline
  convenience init(onMainActor value: consuming Value) { self.init(value, by: MainActor.shared) }

  /// The value. Use it only on the actor.
  @usableFromInline var value: Value { unsafe content.unsafelyUnwrapped }

  deinit {
    // The value is moved into the parcel, so that this thread never holds the last reference.
    let parcel = Parcel()
    parcel.add(content.take() as Any)
    parcel.send(to: actor)
  }
}
