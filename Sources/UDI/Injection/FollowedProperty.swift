import Observation
import Synchronization

/// What a followed property looks up, and how its observers are told of changes.
///
/// A read that is observed lets a watcher wait for the next change, unless one does already. After that change, all
/// observers are told, and the watcher is dropped: those that still observe the property read it again. So changes that
/// nobody observes cost nothing.
@usableFromInline
final class FollowedProperty: @unchecked Sendable {
  // Unchecked: the object's own code uses `link`, as for any property, and the tree lock guards `watcher`.

  @usableFromInline let link: PropertyLink
  private let registrar = ObservationRegistrar()
  /// The watcher that waits for the next change; nil if nobody has read the property since the last one.
  private var watcher: Watcher?

  init(_ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite) {
    link = PropertyLink(type, reach, named: name, search: search, keeps: .never, at: site.ofFollowed)
  }

  deinit { changeNow() }

  /// Lets the watcher tell the observers, whatever a lookup would find.
  private func changeNow() { Tree.change { _ in watcher.take()?.stop() } }

  /// Records a read, and returns whether it is observed.
  @usableFromInline var isObserved: Bool { Observed.isObserved(registrar) || !Observed.isHashed }

  /// Reads the dependency of an object. This is what clients compile of a read.
  @_alwaysEmitIntoClient @inline(__always)
  func value<Dependency>(_ attachment: UDIAttachment, of owner: AnyObject) -> Dependency? {
    if isObserved { return observe(attachment, of: owner) }
    return unsafe readProperty(of: owner, attachment, .passUnretained(link))
  }

  @usableFromInline
  func observe<Dependency>(_ attachment: UDIAttachment, of owner: AnyObject) -> Dependency? {
    let stamp = attachment.stamp
    let (context, isGone) = attachment.state
    let start = isGone ? nil : context ?? AppContext
    return observe(from: start, for: attachment, since: stamp) {
      unsafe readProperty(of: owner, attachment, .passUnretained(link))
    }
  }

  /// Reads the dependency of a view from the view's context.
  @MainActor
  func value<Dependency>(in context: UDIContext) -> Dependency? {
    if watcher?.context !== context { changeNow() }
    return isObserved ? observe(from: context) { context.lookUp(link.request) } : context.lookUp(link.request)
  }

  /// Sets a value, or nil.
  @usableFromInline
  func set<Dependency>(_ value: Dependency?, of owner: AnyObject) {
    link.set(value, of: owner)
    changeNow()
  }

  /// Looks up the dependency, and sees to it that a watcher waits for the next change.
  private func observe<Dependency>(
    from context: UDIContext?, for attachment: UDIAttachment? = nil, since stamp: UInt = 0, _ lookUp: () -> Dependency?
  ) -> Dependency? {
    if let present = Tree.change({ watcher?.readingAgain(&$0) }) { return present.looking(isWhole: true, lookUp) }
    // If the read is on the main actor, the watcher looks there, too: then it cannot find an instance that such a read
    // makes and releases at once.
    let actor = runsOnMainActor ? MainActor.shared : nil
    let consumer = Consumer(context, link.request, goesOnAbove: true)
    let made = consumer.watcher
    attachment?.add(made, since: stamp)
    // If two threads begin at the same time, each watcher tells all observers.
    Tree.change { _ in (watcher, made.change) = (made, nil) }
    let step = { [weak self] (_: [Watcher.Found]?) in self?.tell(after: made, isOnMainActor: actor != nil) ?? false }
    defer { _ = consumer.follow(on: { actor }, looksOnlyIfInDoubt: true, ActorOwned(step, by: actor)) }
    return made.begin(lookUp)
  }

  /// Tells the observers.
  ///
  /// - Returns: Whether the watcher waits for the next change, too. It does if nobody has been told, because the reader
  ///   is on another thread, and becomes an observer only when the closure that tracks it ends.
  private func tell(after last: Watcher, isOnMainActor: Bool) -> Bool {
    Tree.change { _ in if watcher === last { watcher = nil } }
    let before = Observed.hashes.load(ordering: .relaxed)
    registrar.withMutation(of: Observed(), keyPath: Observed.path) {}
    // If the path was hashed, somebody has been told.
    if Observed.hashes.load(ordering: .relaxed) != before || isOnMainActor || last.context == nil { return false }
    return Tree.change { _ in
      if watcher == nil, !last.isStopped { watcher = last }
      return watcher === last
    }
  }
}

/// The value that Observation believes to be read. Observation hashes its path in only two cases: to record a read that
/// is observed, and to tell somebody of a change. So the hashes show whether a read is observed.
private struct Observed: Observable, Hashable {
  static let path: any KeyPath<Observed, Bool> & Sendable = \Observed[Observed()]
  static let hashes = Atomic<UInt>(0)

  /// Whether Observation hashes paths as described. If the system's does not, all reads count as observed.
  static let isHashed = withObservationTracking({ isObserved(ObservationRegistrar()) }, onChange: {})

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
