import Observation
import Synchronization

/// What a followed property looks up, and how its observers are told of changes.
///
/// A read that is observed lets a watcher wait for the next change, unless one does already. After that change, all
/// observers are told, and the watcher is dropped: those that still observe the property read it again. So changes that
/// nobody observes cost nothing.
@usableFromInline
final class FollowedProperty: @unchecked Sendable {
  // Unchecked: the object's own code uses `link`, as for any property. The tree lock guards all other mutable properties.

  private let link: PropertyLink
  private let registrar = ObservationRegistrar()
  /// What waits for the next change; nil if nobody has read the property since the last one.
  private var watcher: Watcher?
  /// Whether observers are told on the main actor, because the property has been read there.
  private var isReadOnMainActor = false

  init(_ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite) {
    link = PropertyLink(type, reach, named: name, search: search, keeps: .never, at: site)
  }

  deinit { stop() }

  /// Ends the waiting, without telling the observers.
  func stop() { Tree.change { _ in watcher.take()?.stop() } }

  // MARK: - Reading and setting

  /// Records a read, and returns whether it is observed.
  private var isObserved: Bool { Observed.isObserved(registrar) || !Observed.isHashed }

  /// Reads the dependency of an object. This is what clients compile of a read: see `PropertyLink.value`.
  @_alwaysEmitIntoClient
  @inline(__always)
  func value<Dependency>(_ attachment: UDIAttachment, of owner: AnyObject) -> Dependency? {
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &found) {
      unsafe read(attachment, of: owner, into: UnsafeMutableRawPointer($0))
    }
    return found
  }

  @usableFromInline
  func read(_ attachment: UDIAttachment, of owner: AnyObject, into memory: UnsafeMutableRawPointer) {
    guard isObserved, link.lookup != nil else { return unsafe link.read(attachment, of: owner, into: memory) }
    let stamp = attachment.stamp
    let (context, isGone) = attachment.state
    func lookUp<Dependency>(_ type: Dependency.Type) {
      observe(from: context ?? (isGone ? nil : AppContext), for: (attachment, stamp)) {
        unsafe link.read(attachment, of: owner, into: memory)
        return unsafe memory.assumingMemoryBound(to: Dependency?.self).pointee
      }
    }
    _openExistential(link.request.type, do: lookUp)
  }

  /// Reads the dependency of a view, whose context this is.
  func value<Dependency>(in context: UDIContext) -> Dependency? {
    let request = link.request
    func lookUp() -> Dependency? {
      context.lookUp(Dependency.self, request.reach, named: request.name, search: request.search)
    }
    return isObserved ? observe(from: context, for: nil, lookUp) : lookUp()
  }

  /// Sets a value, or nil.
  @usableFromInline
  func set<Dependency>(_ value: Dependency?, of owner: AnyObject) {
    stop()
    registrar.withMutation(of: Observed(), keyPath: Observed.path) { link.set(value, of: owner) }
  }

  // MARK: - Following

  /// Looks up the dependency, and sees to it that a watcher waits for the next change.
  @discardableResult
  private func observe<Dependency>(
    from context: UDIContext?, for object: (attachment: UDIAttachment, stamp: UInt)?, _ lookUp: () -> Dependency?
  ) -> Dependency? {
    let isOnMainActor = MainActorCheck.isOnMainActor
    // The watcher waits before the lookup, so that no change is missed.
    func present(else made: Watcher?) -> Watcher? {
      Tree.change { _ in
        if isOnMainActor { isReadOnMainActor = true }
        if watcher == nil { watcher = made }
        return watcher
      }
    }
    if let present = present(else: nil) { return present.looking(lookUp) }
    let consumer = Consumer(context, link.request, looksFirst: true)
    guard let present = present(else: consumer.watcher), present === consumer.watcher else { return lookUp() }
    let found = present.begin(lookUp)
    if let object { object.attachment.add(present, since: object.stamp) }
    // On the main actor, the waiting task cannot look while a read has just made an instance that will not last.
    let actor = isOnMainActor ? MainActor.shared : nil
    Task.detached { [weak self] in await Self.wait(consumer, on: actor) { [weak self] in self } }
    return found
  }

  /// Waits for the next change, and tells the observers. Does not hold the property while it waits.
  private static func wait(
    _ consumer: Consumer, on actor: isolated (any Actor)?, _ property: @Sendable () -> FollowedProperty?
  ) async {
    _ = await consumer.watcher.next(looksOnlyIfInDoubt: true)
    guard let property = property() else { return }
    let (isWanted, isReadOnMainActor) = Tree.change { _ in
      consumer.watcher.stop()
      let isWanted = property.watcher === consumer.watcher
      if isWanted { property.watcher = nil }
      return (isWanted, property.isReadOnMainActor)
    }
    if isWanted { await property.tell(on: isReadOnMainActor ? MainActor.shared : nil) }
  }

  private func tell(on actor: isolated (any Actor)?) {
    registrar.withMutation(of: Observed(), keyPath: Observed.path) {}
  }
}

// MARK: - Observation

/// What Observation believes to be read. It hashes the path of a read that is observed, to record it, and does nothing
/// with any other. So the path says whether a read is observed.
private struct Observed: Observable, Hashable {
  static let path: any KeyPath<Observed, Bool> & Sendable = \Observed[Observed()]
  static let hashes = Atomic<UInt>(0)

  /// Whether Observation hashes paths as described. If the system's does not, all reads count as observed.
  static let isHashed = withObservationTracking {
    isObserved(ObservationRegistrar())
  } onChange: {
  }

  subscript(path: Observed) -> Bool { true }

  func hash(into hasher: inout Hasher) { Self.hashes.add(1, ordering: .relaxed) }

  /// Records a read. If another thread is observed at the same time, the read may count as observed although it is not,
  /// which does no harm.
  static func isObserved(_ registrar: ObservationRegistrar) -> Bool {
    let before = hashes.load(ordering: .relaxed)
    registrar.access(Observed(), keyPath: path)
    return hashes.load(ordering: .relaxed) != before
  }
}
