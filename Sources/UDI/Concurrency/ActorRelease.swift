/// Releases a value on the main actor: at once where the caller is on it, otherwise as soon as the main actor is free.
///
/// The caller must hold no other reference, or the last one may be released elsewhere after all: pass the value with
/// `consume`. Not to be called under a lock. Where the main actor never runs again, the value is never released.
///
/// - Parameter value: The value, an object for example, which need not be `Sendable`.
func releaseOnMainActor(_ value: consuming Any) {
  let parcel = Parcel()
  parcel.add(consume value)
  parcel.send()
}

/// Takes objects to an actor, mostly the main actor, to be released there.
final class Parcel: @unchecked Sendable {
  // Unchecked: the thread that makes it fills it and sends it, and the actor alone touches it afterwards.
  private var contents: [Any] = []

  func add(_ value: consuming Any) { contents.append(value) }

  /// Releases the contents on the main actor. Not to be called under a lock.
  func send() {
    if MainActorCheck.isOnMainActor { return contents = [] }
    // What is left may go on any thread: the closure, and this parcel, which is empty by then.
    Task.detached { @MainActor in self.contents = [] }
  }

  /// The same on any actor.
  func send(to actor: any Actor) {
    if actor === MainActor.shared { return send() }
    Task.detached { await self.empty(on: actor) }
  }

  private func empty(on actor: isolated any Actor) { contents = [] }
}

/// Owns something on behalf of an actor: wherever its own last reference goes, the value is released there.
///
/// For what may be released on any thread, because a `Sendable` object holds it, and leads to objects that are not `Sendable`.
@usableFromInline
final class ActorOwned<Value>: @unchecked Sendable {
  // Unchecked: the value is only used on the actor, which whoever asks for it sees to.
  private var content: Value?
  private let actor: any Actor

  init(_ value: consuming Value, by actor: any Actor) {
    content = value
    self.actor = actor
  }

  /// Owns a value of the main actor's.
  @usableFromInline
  convenience init(onMainActor value: consuming Value) { self.init(value, by: MainActor.shared) }

  /// The value, to be used on the actor.
  @usableFromInline var value: Value { unsafe content.unsafelyUnwrapped }

  deinit {
    // Moved, so that this thread never holds the last reference.
    let parcel = Parcel()
    parcel.add(content.take() as Any)
    parcel.send(to: actor)
  }
}
