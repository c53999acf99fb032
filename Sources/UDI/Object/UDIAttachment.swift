// This import is public because reads of linked properties are compiled in the caller's module and read the stamp.
public import Synchronization

/// What an object stores to take part in the tree: the context that it is attached to, and what it has bound.
///
/// ```swift
/// let _attachedContext = UDIAttachment()
/// ```
///
/// Nothing else is needed. The property must be stored, and each object needs its own attachment. When the object dies,
/// its attachment dies with it and withdraws the object's bindings at once.
public final class UDIAttachment: Sendable {
  let lock = Lock()
  /// Guarded by `lock`. The context is held strongly. A context never holds a bound object strongly, so there is no
  /// cycle.
  private nonisolated(unsafe) var attached: UDIContext?
  /// Guarded by `lock`: the node of `attached`, which exists as long as the context is held.
  private nonisolated(unsafe) var attachedNode: Node?
  /// Guarded by `lock`. This refers to the context instead, if holding it would make a cycle because it leads to the
  /// object's owner.
  private nonisolated(unsafe) weak var attachedWeakly: UDIContext?
  /// Guarded by `lock`: whether `attachedWeakly` was set. It may be nil by now.
  private nonisolated(unsafe) var isWeak = false
  /// Guarded by `lock`: the search of the context that was stored last, for explanations when the context is gone.
  private nonisolated(unsafe) var storedSearch = UDISearch.lineage
  /// Guarded by the tree lock: whether a watcher's lookup attached the object, see `ChangeKind`.
  private nonisolated(unsafe) var comesFromLook = false
  /// Guarded by `lock`: the contexts that own the object, each listed once. Usually this is the one whose provider made
  /// it.
  private(set) nonisolated(unsafe) var owners: [Owner] = []

  struct Owner {
    weak var context: UDIContext?
  }

  /// The object's address, as soon as it has been attached or bound; 0 before.
  ///
  /// It is written while the object is alive, so the `deinit` here sees it.
  private let owner = Atomic<UInt>(0)

  /// A number that rises with each attachment, beginning at 1. What was linked under an earlier number is out of date.
  @usableFromInline let attachments = Atomic<UInt>(1)
  @inlinable var stamp: UInt { attachments.load(ordering: .relaxed) }

  /// Guarded by the tree lock: bindings that the object made of other instances.
  private nonisolated(unsafe) var helpers = CompactTable<HelperEntry>()

  /// Whether the process has made any attachment yet. Until it has, no object takes part in the tree, and there is no
  /// need to check whether an object's class does. The first such check makes the runtime go through all conformances
  /// of the program.
  static var areInUse: Bool { inUse.load(ordering: .relaxed) }
  private static let inUse = Atomic<Bool>(false)

  /// Makes an attachment for a new object, which is attached to nothing.
  public init() {
    // Any thread that receives the object sees this store, too, because handing the object over orders the two.
    if !Self.areInUse { Self.inUse.store(true, ordering: .relaxed) }
  }

  deinit {
    guard owner.load(ordering: .relaxed) != 0 else { return }
    Tree.change { garbage in
      noteHolding(false)
      withdraw(where: { _ in true }, &garbage)
      // The bindings of the object that a context's `bind` made go with it, too.
      InstanceChain.bindings(at: owner.load(ordering: .relaxed)) { $0.withdraw(&garbage) }
    }
  }

  /// Records whose attachment this is.
  ///
  /// - Precondition: It is not the attachment of another object.
  @inline(__always)
  func remember(owner address: UInt) {
    let known = owner.load(ordering: .relaxed)
    if known == address { return }
    if known != 0 { refuseSharing() }
    owner.store(address, ordering: .relaxed)
  }

  @inline(never)
  private func refuseSharing() -> Never {
    fatalError(
      """
      two objects share one UDIAttachment, so each would link and bind for the other. Let each object store its own: \
      `let _attachedContext = UDIAttachment()`
      """)
  }
}

// MARK: - The context

extension UDIAttachment {
  /// The context that the object is attached to.
  var context: UDIContext? {
    if case .attached(let context) = state { context } else { nil }
  }

  /// The same, or nil if the object does not hold it.
  var heldContext: UDIContext? { lock.withLock { unsafe attached } }

  /// The search that the attached context had when the object was attached to it.
  var lastSearch: UDISearch { lock.withLock { unsafe storedSearch } }

  enum State {
    case attached(UDIContext)
    case none
    /// The context is gone, or about to go.
    case gone
  }

  var state: State {
    // A reference that was loaded from a weak one may be the last, so it is passed out of the lock.
    lock.withLock {
      if let attached = unsafe attached { return .attached(attached) }
      guard unsafe isWeak else { return .none }
      return unsafe attachedWeakly.map { .attached($0) } ?? .gone
    }
  }

  /// Attaches an object that a provider has, unless it is already attached to a context. Under the tree lock.
  ///
  /// - Parameter isOwned: Whether the context owns the object.
  /// - Returns: Whether the object has been attached, so that its hook has to be called.
  func attach(
    providedBy provider: Provider, _ object: AnyObject, to context: UDIContext, isOwned: Bool, _ garbage: inout Garbage
  ) -> Bool {
    let present = self.context
    if let present {
      garbage.add(present)
    } else {
      remember(owner: Unretained(object).address)
    }
    if isOwned { setOwner(context, &garbage) }
    if present != nil { return false }
    attach(object, to: context, at: provider.site, &garbage)
    return true
  }

  /// Attaches the object to another context, or to none, and withdraws what the object has bound so far.
  ///
  /// - Parameters:
  ///   - object: The object whose attachment this is.
  ///   - context: The context to attach to; then bindings made by `multiBind` stay. Nil withdraws these, too.
  ///   - site: The call, or the registration, that led to this, if known.
  func attach(_ object: AnyObject, to context: UDIContext?, at site: CallSite? = nil) {
    Tree.change { garbage in attach(object, to: context, at: site, &garbage) }
  }

  /// The same under the tree lock.
  private func attach(_ object: AnyObject, to context: UDIContext?, at site: CallSite?, _ garbage: inout Garbage) {
    if BindingAudit.isOn, let context { BindingAudit.noteAttachment(object, self, to: context, site, &garbage) }
    withdraw(where: { context == nil || !$0.isMulti }, &garbage)
    store(context, &garbage)
    unsafe comesFromLook = Tree.isLooking
    attachments.add(1, ordering: .relaxed)
  }

  /// Records that a context owns the object. From then on, the object holds neither that context nor a context above
  /// it, wherever these are moved. Under the tree lock.
  private func setOwner(_ context: UDIContext, _ garbage: inout Garbage) {
    let alive = lock.withLock { unsafe owners.compactMap(\.context) }
    Schedule.reached(.loadedToLook)
    let all = alive.contains(context) ? alive : alive + [context]
    lock.withLock { unsafe owners = all.map { Owner(context: $0) } }
    // These were loaded from weak references, and so may be the last references.
    for owner in alive { garbage.add(owner) }
    storeAgain(&garbage)
  }

  /// Stores the context, weakly if it leads to one that owns the object. Under the tree lock.
  private func store(_ context: UDIContext?, _ garbage: inout Garbage) {
    var leadsToOwner = false
    var isOwned = false
    for owner in lock.withLock({ unsafe owners.compactMap(\.context) }) {
      isOwned = true
      if context?.leads(to: owner) ?? false { leadsToOwner = true }
      Schedule.reached(.loadedToLook)
      garbage.add(owner)
    }
    noteHolding(isOwned && context != nil && !leadsToOwner)
    let search = context?.withNode { $0.shared.search }
    let old = lock.withLock {
      if let search { unsafe storedSearch = search }
      let old = unsafe attached
      unsafe attached = leadsToOwner ? nil : context
      unsafe attachedNode = attached?.withNode { $0 }
      unsafe attachedWeakly = leadsToOwner ? context : nil
      unsafe isWeak = leadsToOwner
      return old
    }
    if let old { garbage.add(old) }
  }

  /// Guarded by the tree lock: the attachments of owned objects that hold a context. Such an object was attached, by
  /// its factory or later, to a context that does not lead to its owner; few programs have one. An attachment that dies
  /// removes itself.
  @exclusivity(unchecked) private nonisolated(unsafe) static var holding = CompactTable<HoldingEntry>()

  /// Records whether the object is owned and holds a context. Under the tree lock.
  private func noteHolding(_ holds: Bool) {
    let entry = HoldingEntry(attachment: Unretained(self))
    if holds {
      if unsafe Self.holding.find(entry.key) == nil { unsafe Self.holding.insert(entry) }
    } else if unsafe !Self.holding.isEmpty {
      unsafe Self.holding.remove(entry.key)
    }
  }

  /// Makes owned objects release contexts that now lead to their owners and so would keep the objects alive for ever.
  /// Called under the tree lock, after a context was moved.
  static func breakCircles(_ garbage: inout Garbage) {
    if unsafe holding.isEmpty { return }
    var all: [Unretained<UDIAttachment>] = []
    unsafe holding.forEach { all.append($0.attachment) }
    for attachment in all { attachment.read { $0.storeAgain(&garbage) } }
  }

  /// Makes the object hold its context weakly if this now leads to the object's owner. Under the tree lock.
  private func storeAgain(_ garbage: inout Garbage) {
    guard let present = lock.withLock({ unsafe attached }) else { return }
    store(present, &garbage)
    garbage.add(present)
  }

  /// Looks something up in the node of the attached context. The context is not retained: it cannot go while the lock
  /// is held.
  ///
  /// This serves the row "object.linkInLine" of the benchmarks with 150 of 505 instructions: there are weak references
  /// to a context that has providers, and retaining such an object is slow.
  ///
  /// - Parameter attempt: The lookup. It runs no user code.
  /// - Returns: The answer; also the context, if the answer is `provided`. The answer is `dead` if the object holds no
  ///   context.
  @inline(__always)
  func attempt(_ attempt: (Node) -> LookupAnswer) -> (LookupAnswer, UDIContext?) {
    lock.lock()
    guard let node = unsafe attachedNode else {
      lock.unlock()
      return (.dead, nil)
    }
    let answer = attempt(node)
    // The caller needs the context to make the instance, after the lock has been given back.
    let context: UDIContext? = if case .provided = answer { unsafe attached } else { nil }
    lock.unlock()
    return (answer, context)
  }
}

// MARK: - What the object has bound

extension UDIAttachment {
  /// Binds in a context, or, if that is nil, in the context that the object is attached to at that moment.
  ///
  /// - Returns: Whether there was a context: the context that owned the object may be gone.
  func bind(_ request: borrowing BindRequest, in context: UDIContext?) -> Bool {
    let isOwn = request.form.address == owner.load(ordering: .relaxed)
    if !isOwn { request.tellAttachment() }
    let binding = Binding.make(request, binder: isOwn ? .instance : .other, maker: isOwn ? nil : self)
    let isMulti = request.isMulti
    return Tree.change { garbage in
      // This is read under the lock, so that attaching the object elsewhere comes before or after the whole bind.
      let target: UDIContext
      switch context.map(State.attached) ?? state {
      case .attached(let context): target = context
      case .none: target = AppContext
      case .gone: return false
      }
      // The object may also bind itself later, when the watcher's lookup is over.
      if isOwn, unsafe comesFromLook { binding.comesFromLook = true }
      target.withNode { $0.bind(binding, moving: !isMulti, &garbage) }
      garbage.add(target)
      return true
    }
  }

  /// Withdraws what the object bound under a key, in all contexts.
  func unbind(_ key: KeyIdentity) -> Bool {
    Tree.change { garbage in
      withdraw(where: { $0.key === key }, &garbage)
    }
  }

  /// Withdraws bindings that the object made. Under the tree lock.
  @discardableResult
  private func withdraw(where condition: (Binding) -> Bool, _ garbage: inout Garbage) -> Bool {
    var made: [Binding] = []
    InstanceChain.bindings(at: owner.load(ordering: .relaxed)) { binding in
      if binding.binder == .instance, condition(binding) { made.append(binding) }
    }
    unsafe helpers.forEach { if condition($0.binding.object) { made.append($0.binding.object) } }
    for binding in made { binding.withdraw(&garbage) }
    return !made.isEmpty
  }

  /// Records that a binding of another instance, made by this object, is now in the tree. Under the tree lock.
  func didBind(_ helper: DetailedBinding) { unsafe helpers.insert(HelperEntry(binding: Unretained(helper))) }

  /// Records that a binding of another instance, made by this object, leaves the tree. Under the tree lock.
  func didUnbind(_ helper: DetailedBinding) { unsafe helpers.remove(HelperEntry(binding: Unretained(helper)).key) }
}

private struct HoldingEntry: CompactTableElement {
  let attachment: Unretained<UDIAttachment>
  var key: UInt { attachment.address }
  static func hash(_ key: UInt) -> UInt { scrambled(key) }
}

private struct HelperEntry: CompactTableElement {
  let binding: Unretained<DetailedBinding>
  var key: UInt { binding.address }
  static func hash(_ key: UInt) -> UInt { scrambled(key) }
}

extension UDIContext {
  /// Whether this context is the other one or above it. Under the tree lock.
  fileprivate func leads(to other: UDIContext) -> Bool {
    withNode { node in other.withNode { $0.andAncestors.contains(node) } }
  }
}
