import Synchronization

/// A connection between an object and the tree.
///
/// Every object that takes part in the tree stores an attachment. The attachment knows the context that the object is
/// attached to, and the bindings that the object has made.
///
/// ```swift
/// let _attachedContext = UDIAttachment()
/// ```
///
/// An object need not store anything else. The property must be a stored property, and each object needs its own
/// attachment. When the object is released, its attachment is released with it and withdraws the object's bindings at
/// once.
public final class UDIAttachment: UDIFinder, Sendable {
  // The comment on each `nonisolated(unsafe)` property names the lock that guards it. All its uses are under this lock.

  let lock = Lock()
  /// The context, which the object holds strongly; nil if the object is not attached, or if `attachedWeakly` is used
  /// instead. The strong reference makes no cycle, because neither this context nor one below it owns the object.
  /// Guarded by `lock`.
  nonisolated(unsafe) var attached: UDIContext?
  /// The node of `attached`, which exists as long as the context is held. Guarded by `lock`.
  nonisolated(unsafe) var attachedNode: Node?
  /// The context, if it owns the object or is above a context that owns it. In this case, `attached` is nil, because a
  /// strong reference would make a cycle. Guarded by `lock`.
  nonisolated(unsafe) weak var attachedWeakly: UDIContext?
  /// Whether the context is in `attachedWeakly`. That reference might have become nil since. Guarded by `lock`.
  nonisolated(unsafe) var isWeak = false
  /// The search that the context had when it was last stored here. Explanations use it when the context is gone.
  /// Guarded by `lock`.
  nonisolated(unsafe) var storedSearch = UDISearch.lineage
  /// The call, or the registration, that attached the object last; nil if that is not known. Guarded by the tree lock.
  nonisolated(unsafe) var attachSite: UDICallSite?
  /// Whether a look (a lookup for a watcher) has attached the object; see `ChangeKind`. Guarded by the tree lock.
  nonisolated(unsafe) var comesFromLook = false
  /// The contexts that own the object, or did, each listed once. Usually the only one is the context whose provider
  /// made the object. Guarded by `lock`.
  nonisolated(unsafe) var owners: [Owner] = []

  /// The provider that keeps the object weakly, if one does. Guarded by the tree lock.
  nonisolated(unsafe) weak var weakKeeper: Entry?

  struct Owner { weak var context: UDIContext? }

  /// The object's address, once `remember(owner:)` has been called: when the object is attached or binds something, and
  /// usually when it is bound (`BindRequest.tellAttachment`). Before, this is 0 or, if at least the object's class is
  /// known, `classIsKnown`.
  ///
  /// Relaxed accesses are enough: the address is written while the object is alive, so `deinit` sees it.
  let owner = Atomic<UInt>(0)

  /// The object's address; nil while it is not known.
  var address: UInt? {
    let address = owner.load(ordering: .relaxed)
    return address <= Self.classIsKnown ? nil : address
  }

  /// One more than the number of times that the object has been attached or detached. A dependency that was linked
  /// under a lower number is out of date.
  let attachments = Atomic<UInt>(1)
  var stamp: UInt { attachments.load(ordering: .relaxed) }

  /// The bindings by which this object has bound other instances. Guarded by the tree lock.
  nonisolated(unsafe) var bindingsOfOthers = ObjectSet()

  /// The followers of dependencies for this object, until it is attached again or detached; nil if there are none.
  /// Guarded by the tree lock.
  // The tree lock excludes overlapping accesses, so they are not checked ("attach" in `Benchmarks/instructions`).
  @exclusivity(unchecked) nonisolated(unsafe) var followers: [Node.Follower]?

  /// Makes an attachment for a new object, which is not attached to any context yet.
  public init() { Self.strangers.add(1, ordering: .relaxed) }

  deinit {
    let address = owner.load(ordering: .relaxed)
    if address == 0 { Self.strangers.subtract(1, ordering: .relaxed) }
    if unsafe followers != nil { Tree.change { _ in stopFollowing() } }
    if address <= Self.classIsKnown { return }
    Tree.change { garbage in
      noteHolding(false)
      for binding in otherBindings { binding.withdraw(&garbage) }
      garbage.held(unsafe weakKeeper)?.withdraw(&garbage)
      // The bindings of the object itself, including those that were made through a context's `bind`. If something held
      // this attachment for longer than the object lived, another object might have the address by now. That object's
      // bindings are not dead, and stay.
      InstanceChain.bindings(at: address) { binding in
        if binding.liveObject(&garbage) == nil { binding.withdraw(&garbage) }
      }
    }
  }

  // MARK: - The context

  /// The context that the object is attached to.
  var context: UDIContext? { state.context }

  /// The context that the object is attached to and holds strongly; nil if there is none. Do not read this while a lock
  /// is held: the reference that is returned might become the last one.
  package var heldContext: UDIContext? { lock.withLock { unsafe attached } }

  /// The context that the object is attached to, and whether that context is gone or about to go. Under the tree lock,
  /// put the context into the garbage after use: the reference that is returned might have become the last one.
  @inline(never)
  var state: (context: UDIContext?, isGone: Bool) {
    lock.withLockInlined {
      if let attached = unsafe attached { return (attached, false) }
      let context = unsafe isWeak ? attachedWeakly : nil
      return unsafe (context, isWeak && context == nil)
    }
  }

  /// Does the same as `effectiveContext`. If the attached context is gone, also notifies the observer of the miss.
  ///
  /// - Parameters:
  ///   - verb: The verb; if nil, `require` or `link`.
  ///   - isRequired: Whether the verb throws if it finds nothing; nil if finding nothing is no miss, as for `linkAll`.
  /// - Throws: `UDILinkError` if the attached context is gone, and the verb throws.
  func context(
    for verb: String?, isRequired: Bool?, _ request: LookupRequest, of owner: AnyObject
  ) throws -> UDIContext? {
    // Asking for the state at once saves a fifth of a hit of an object that is owned ("owned-object" in
    // `Benchmarks/instructions`).
    if let context = state.context { return context }
    let verb = verb ?? (isRequired == true ? "require" : "link")
    if let context = effectiveContext(verb, owner, request.key.description, at: request.site) { return context }
    if UDIObserver.mayExist, let isRequired { request.tellMiss(from: [], isRequired: isRequired) }
    if isRequired != true { return nil }
    throw UDIOrigin.object(self, owner).seen(UDILinkError(explanationOfAbsence(request)), at: request.site)
  }

  /// Explains a lookup that finds nothing because the attached context is gone.
  func explanationOfAbsence(_ request: LookupRequest) -> UDIExplanation {
    let search = request.search ?? lock.withLock { unsafe storedSearch }
    return UDIExplanation(request.type, named: request.name, search: search, cause: .contextGone)
  }

  /// Returns the effective context. If that is `AppContext`, because the object is attached to no context, reports this
  /// if the reporter wants such reports, and marks `AppContext` while recording is on, so that the lookup is recorded.
  /// If the attached context is gone, reports that and returns nil.
  ///
  /// - Parameters:
  ///   - what: What the verb looks up, binds or attaches.
  @inline(never)
  func effectiveContext(
    _ verb: String, _ owner: AnyObject, _ what: @autoclosure () -> String, at site: UDICallSite
  ) -> UDIContext? {
    let (context, isGone) = state
    if let context { return context }
    if isGone || UDIReporter.current.reportsUnattachedUse {
      let problem =
        isGone
        ? "the context that it is attached to is gone. Keep a context as long as you use the objects that it owns."
        : "is attached to no context, so AppContext served it. Attach it first: `attached(to:)`."
      let message = spelled("The \(Swift.type(of: owner)) used \(verb) for \(what()), but \(problem)")
      UDIReporter.current.report(isGone ? .contextGone : .unattached, message, at: site)
    }
    if isGone { return nil }
    rememberClass(of: owner)
    if isRecording { AppContext.recordLookups() }
    return AppContext
  }

  // MARK: - For `UDILinking`

  /// Returns the place where lookups begin. For the library only.
  @_alwaysEmitIntoClient public func _origin(for asker: AnyObject) -> UDIOrigin { .object(self, asker) }
}
