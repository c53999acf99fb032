/// The objects that a change has dropped. They must not be released while the lock is held.
package struct Garbage {
  private var objects: [AnyObject] = []
  /// Objects that have to be released on the main actor.
  private var mainActorObjects: [AnyObject]?

  package init() {}

  package mutating func add(_ object: consuming AnyObject) { objects.append(object) }

  /// Adds an object that was loaded from a weak reference only to look at it. If this reference has become the last
  /// one, the garbage releases the object: on the main actor if that is the object's reach.
  package mutating func add(_ object: consuming AnyObject, _ reach: UDIReach) {
    Schedule.reached(.loadedToLook)
    guard reach == .mainActor else { return add(object) }
    if mainActorObjects == nil { mainActorObjects = [] }
    mainActorObjects?.append(object)
  }

  /// Does the same as `add(_:_:)` for the object of an entry.
  mutating func add(_ object: consuming AnyObject, of entry: Entry) { add(object, entry.reach) }

  // This method is always inlined, so that the compiler can see that most changes drop nothing.
  @inline(__always)
  package mutating func release() {
    if objects.isEmpty, mainActorObjects == nil { return }
    objects = []
    if let mainActorObjects = mainActorObjects.take() { releaseOnMainActor(consume mainActorObjects) }
  }
}
