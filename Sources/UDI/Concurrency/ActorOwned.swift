/// Owns a value on behalf of an actor: when the last reference to this object is released, on whatever thread, the
/// value is released on the actor.
///
/// Use this in a `Sendable` object, which may be released on any thread, to hold a value that refers to objects that
/// are not `Sendable`. If the actor never runs again, the value is never released. Do not release the last reference to
/// this object while holding a lock.
final class ActorOwned<Value>: CustomReflectable, @unchecked Sendable {
  // Unchecked: the value is used only on the actor, if there is one. Code that reads it makes sure that it runs there.
  /// Written only while nothing else can read it, so accesses are not checked for overlaps.
  @exclusivity(unchecked) private var content: Value?
  /// Nil if the value may be released anywhere.
  private let actor: (any Actor)?

  init(_ value: consuming Value, by actor: (any Actor)?) {
    unsafe content = value
    self.actor = actor
  }

  /// The value. Use it only on the actor.
  // The content is not nil: only `deinit` and `empty` remove it, and no code can ask for it after that.
  var value: Value { unsafe content.unsafelyUnwrapped }

  deinit {
    guard let actor, let content = unsafe content.take() else { return }
    if actor === MainActor.shared, runsOnMainActor { return }
    // The value is passed on to a carrier, so that this thread never releases the last reference to the value. By the
    // time the carrier is released, it is already empty.
    let carrier = ActorOwned(consume content, by: actor)
    if actor === MainActor.shared { return addToMainActorReleases { unsafe carrier.content = nil } }
    Task.detached { await carrier.empty(on: actor) }
  }

  private func empty(on actor: isolated any Actor) { unsafe content = nil }

  /// Empty, because any code can make a mirror, on any thread.
  var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}

// Values that wait to be released on the main actor. The end of a session lets go of much at once, so a single turn on
// the main actor releases everything that has been added until then.
private let mainActorLock = Lock()
/// The closures that release the values. Guarded by `mainActorLock`.
private nonisolated(unsafe) var mainActorReleases: [@Sendable () -> Void] = []

private func addToMainActorReleases(_ release: @escaping @Sendable () -> Void) {
  let isFirst = mainActorLock.withLock {
    unsafe mainActorReleases.append(release)
    return unsafe mainActorReleases.count == 1
  }
  guard isFirst else { return }
  Task.detached { @MainActor in
    for release in mainActorLock.withLock({ unsafe exchange(&mainActorReleases, with: []) }) { release() }
  }
}

/// Releases a value on the main actor: at once if the caller is on it, otherwise as soon as the main actor is free.
///
/// The caller must hold no other reference to the value, because that reference might be the last one and be released
/// elsewhere. Pass the value with `consume`. Do not call this while holding a lock.
///
/// - Parameter value: The value, for example an object. It need not be `Sendable`.
@inline(never)
func releaseOnMainActor(_ value: consuming Any) { _ = ActorOwned(value, by: MainActor.shared) }
