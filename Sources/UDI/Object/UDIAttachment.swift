// Public, because reads of linked properties are compiled in the caller's module and look at the stamp.
public import Synchronization

/// What an object stores to take part in the tree: which context it is attached to, and what it has bound.
///
/// ```swift
/// let _attachedContext = UDIAttachment()
/// ```
///
/// That line is all. The property must be stored, and each object needs one of its own. When the object dies its attachment does,
/// and takes the object's bindings out of the tree at once.
public final class UDIAttachment: Sendable {
  let lock = Lock()
  /// Guarded by `lock`. Held strongly: a context never holds a bound object that way, so there is no cycle.
  private nonisolated(unsafe) var attached: UDIContext?
  /// Guarded by `lock`: the node of `attached`, which is there as long as that is held.
  private nonisolated(unsafe) var attachedNode: Node?
  /// Guarded by `lock`. The context instead, where holding it would make a cycle, because it leads to the object's owner.
  private nonisolated(unsafe) weak var attachedWeakly: UDIContext?
  /// Guarded by `lock`: whether `attachedWeakly` was set, which may be nil by now.
  private nonisolated(unsafe) var isWeak = false
  /// Guarded by `lock`: the search of the context that was stored last, which is told when that is gone.
  private nonisolated(unsafe) var storedSearch = UDISearch.lineage
  /// Guarded by the tree lock: whether a look for a watcher attached the object, see `ChangeKind`.
  private nonisolated(unsafe) var comesFromLook = false
  /// Guarded by `lock`: the contexts that own the object, each of them once: mostly the one whose provider made it.
  private(set) nonisolated(unsafe) var owners: [Owner] = []

  struct Owner {
    weak var context: UDIContext?
  }

  /// The object's address, once it was attached or bound; 0 before.
  ///
  /// Written while the object is alive, so its `deinit` sees it.
  private let owner = Atomic<UInt>(0)

  /// Rises with each attachment, from 1 on: what was linked under another one is out of date.
  @usableFromInline let attachments = Atomic<UInt>(1)
  @inlinable var stamp: UInt { attachments.load(ordering: .relaxed) }

  /// Guarded by the tree lock: bindings of other instances that the object made.
  private nonisolated(unsafe) var helpers = CompactTable<HelperEntry>()

  /// Whether the process has made any attachment yet. While it has not, no object takes part in the tree, and nobody has to ask an object's class
  /// whether it does: the first time, the runtime goes through all conformances of the program for that.
  static var areInUse: Bool { inUse.load(ordering: .relaxed) }
  private static let inUse = Atomic<Bool>(false)

  /// Makes the attachment of a new object, attached to nothing.
  public init() {
    // Whoever is handed the object sees this, too: handing it over orders the two.
    if !Self.areInUse { Self.inUse.store(true, ordering: .relaxed) }
  }

  deinit {
    guard owner.load(ordering: .relaxed) != 0 else { return }
    Tree.change { garbage in
      noteHolding(false)
      withdraw(where: { _ in true }, &garbage)
      // What a context's `bind` registered of the object goes with it, too.
      InstanceChain.bindings(at: owner.load(ordering: .relaxed)) { $0.withdraw(&garbage) }
    }
  }

  /// Notes whose attachment it is.
  ///
  /// - Precondition: It is not another object's.
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
      two objects share one UDIAttachment, so what the one links and binds would be the other's: have each store one of its own, by \
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

  /// The same, but nil where the object does not hold it.
  var heldContext: UDIContext? { lock.withLock { unsafe attached } }

  /// The search that the attached context had when the object was attached to it.
  var lastSearch: UDISearch { lock.withLock { unsafe storedSearch } }

  enum State {
    case attached(UDIContext)
    case none
    /// The context is gone, or on its way.
    case gone
  }

  var state: State {
    // A reference from a weak one may be the last, so it leaves the lock.
    lock.withLock {
      if let attached = unsafe attached { return .attached(attached) }
      guard unsafe isWeak else { return .none }
      return unsafe attachedWeakly.map { .attached($0) } ?? .gone
    }
  }

  /// Attaches an object that a provider has, unless it is attached to a context already. Under the tree lock.
  ///
  /// - Parameter isOwned: Whether the context owns it.
  /// - Returns: Whether it has been attached, and so is to be told.
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

  /// Attaches to another context, or to none, and withdraws what the object bound until now.
  ///
  /// - Parameters:
  ///   - object: The object whose attachment it is.
  ///   - context: The context to attach to. What `multiBind` bound stays then; nil withdraws that, too.
  ///   - site: The call, or the registration, that leads to it, if known.
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

  /// Notes that a context owns the object. From then on the object holds neither that context nor one above it, wherever they are
  /// moved. Under the tree lock.
  private func setOwner(_ context: UDIContext, _ garbage: inout Garbage) {
    let alive = lock.withLock { unsafe owners.compactMap(\.context) }
    Schedule.reached(.loadedToLook)
    let all = alive.contains(context) ? alive : alive + [context]
    lock.withLock { unsafe owners = all.map { Owner(context: $0) } }
    // Loaded from weak references, and so perhaps the last ones.
    for owner in alive { garbage.add(owner) }
    storeAgain(&garbage)
  }

  /// Stores the context, weakly if it leads to the one that owns the object. Under the tree lock.
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
    let search = context?.withNode { $0.search }
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

  /// Guarded by the tree lock: the attachments of owned objects that hold a context. Such an object was attached by its factory, or
  /// later, to a context that does not lead to its owner; few programs have one. An attachment that dies takes itself out.
  @exclusivity(unchecked) private nonisolated(unsafe) static var holding = CompactTable<HoldingEntry>()

  /// Notes whether the object is owned and holds a context. Under the tree lock.
  private func noteHolding(_ holds: Bool) {
    let entry = HoldingEntry(attachment: Unretained(self))
    if holds {
      if unsafe Self.holding.find(entry.key) == nil { unsafe Self.holding.insert(entry) }
    } else if unsafe !Self.holding.isEmpty {
      unsafe Self.holding.remove(entry.key)
    }
  }

  /// Has owned objects let go of contexts that have come to lead to their owners, and so would keep the objects alive for ever.
  /// Under the tree lock, after a context was moved.
  static func breakCircles(_ garbage: inout Garbage) {
    if unsafe holding.isEmpty { return }
    var all: [Unretained<UDIAttachment>] = []
    unsafe holding.forEach { all.append($0.attachment) }
    for attachment in all { attachment.read { $0.storeAgain(&garbage) } }
  }

  /// Holds its context weakly if that leads to the owner by now. Under the tree lock.
  private func storeAgain(_ garbage: inout Garbage) {
    guard let present = lock.withLock({ unsafe attached }) else { return }
    store(present, &garbage)
    garbage.add(present)
  }

  /// Looks something up in the node of the attached context. The context is not retained: it cannot go while the lock is held.
  ///
  /// That serves the row "object.linkInLine" of the benchmarks with 150 of 505 instructions: a context that has providers is referred to
  /// weakly, too, and retaining such an object is slow.
  ///
  /// - Parameter attempt: Calls no code of the user's.
  /// - Returns: The answer, and for `provided` the context; `dead` where the object holds no context.
  @inline(__always)
  func attempt(_ attempt: (Node) -> LookupAnswer) -> (LookupAnswer, UDIContext?) {
    lock.lock()
    guard let node = unsafe attachedNode else {
      lock.unlock()
      return (.dead, nil)
    }
    let answer = attempt(node)
    // Whoever makes an instance needs the context after the lock was given back.
    let context: UDIContext? = if case .provided = answer { unsafe attached } else { nil }
    lock.unlock()
    return (answer, context)
  }
}

// MARK: - What the object has bound

extension UDIAttachment {
  /// Binds in a context, or where that is nil in the one the object is attached to at that moment.
  ///
  /// - Returns: Whether there was one: the context that owned the object may be gone.
  func bind(_ request: borrowing BindRequest, in context: UDIContext?) -> Bool {
    let isOwn = request.form.address == owner.load(ordering: .relaxed)
    if !isOwn { request.tellAttachment() }
    let binding = Binding.make(request, binder: isOwn ? .instance : .other, maker: isOwn ? nil : self)
    let isMulti = request.isMulti
    return Tree.change { garbage in
      // Read under the lock, so that an attachment elsewhere comes before or after the whole bind.
      let target: UDIContext
      switch context.map(State.attached) ?? state {
      case .attached(let context): target = context
      case .none: target = AppContext
      case .gone: return false
      }
      // It may bind itself later, too, when the look is over.
      if isOwn, unsafe comesFromLook { binding.comesFromLook = true }
      target.withNode { $0.bind(binding, moving: !isMulti, &garbage) }
      garbage.add(target)
      return true
    }
  }

  /// Takes back what the object bound under a key, in whichever contexts.
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

  /// A binding of another instance that this object made is in the tree. Under the tree lock.
  func didBind(_ helper: DetailedBinding) { unsafe helpers.insert(HelperEntry(binding: Unretained(helper))) }

  /// A binding of another instance that this object made leaves the tree. Under the tree lock.
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
  /// Whether it is another context or above that. Under the tree lock.
  fileprivate func leads(to other: UDIContext) -> Bool {
    withNode { node in
      other.withNode { other in
        var next: Node? = other
        while let current = next {
          if current == node { return true }
          next = current.parent
        }
        return false
      }
    }
  }
}
