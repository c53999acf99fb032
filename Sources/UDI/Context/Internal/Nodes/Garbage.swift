/// What a change has dropped. It must not be released before the lock has been given back.
struct Garbage {
  // Most changes drop at most one thing, which needs no array. Without this field, the benchmark "bind a fresh key at
  // depth 4" would take 7 % longer.
  private var first: AnyObject?
  private var rest: [AnyObject]?
  /// What has to be released on the main actor.
  private var mainActorObjects: [AnyObject]?

  mutating func add(_ object: consuming AnyObject) {
    if first == nil {
      first = object
    } else {
      rest == nil ? rest = [object] : rest?.append(object)
    }
  }

  /// Adds an object that was loaded from an entry only to see whether the object is alive. If nobody else holds the
  /// object any more, it dies when the garbage is released. So an object that is not `Sendable` is released on the main
  /// actor.
  mutating func add(_ object: consuming AnyObject, of entry: Entry) { add(object, entry.reach) }

  /// Adds an object with a reach; if the reach is the main actor, the object is released there.
  mutating func add(_ object: consuming AnyObject, _ reach: Reach) {
    guard reach == .mainActor else { return add(object) }
    if mainActorObjects == nil { mainActorObjects = [] }
    mainActorObjects?.append(object)
  }

  // Always inlined: the compiler then sees that most changes drop nothing. Otherwise the benchmark "the same by a
  // scope: register 3, make 3, link 2, end it" would take longer.
  @inline(__always)
  mutating func release() {
    first = nil
    rest = nil
    if let mainActorObjects = mainActorObjects.take() { releaseOnMainActor(consume mainActorObjects) }
  }
}
