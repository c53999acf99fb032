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
  // Each property that is `nonisolated(unsafe)` names the lock that guards it. Every use of it is under this lock.

  let lock = Lock()
  /// Guarded by `lock`. The context is held strongly. A context never holds a bound object strongly, so there is no
  /// cycle.
  nonisolated(unsafe) var attached: UDIContext?
  /// Guarded by `lock`: the node of `attached`, which exists as long as the context is held.
  nonisolated(unsafe) var attachedNode: Node?
  /// Guarded by `lock`: the context, if it leads to the object's owner. Then `attached` is nil, because holding the
  /// context would make a cycle.
  nonisolated(unsafe) weak var attachedWeakly: UDIContext?
  /// Guarded by `lock`: whether `attachedWeakly` was set. It may be nil by now.
  nonisolated(unsafe) var isWeak = false
  /// Guarded by `lock`: the search of the context that was stored last, for explanations when the context is gone.
  nonisolated(unsafe) var storedSearch = UDISearch.lineage
  /// Guarded by the tree lock: whether a watcher's lookup attached the object, see `ChangeKind`.
  nonisolated(unsafe) var comesFromLook = false
  /// Guarded by `lock`: the contexts that own the object, each listed once. Usually this is the one whose provider made
  /// it.
  nonisolated(unsafe) var owners: [Owner] = []

  struct Owner {
    weak var context: UDIContext?
  }

  /// The object's address, as soon as the object has been attached or bound; 0 before.
  ///
  /// It is written while the object is alive, so this class's `deinit` sees it.
  let owner = Atomic<UInt>(0)

  /// A number that rises with each attachment, beginning at 1. What was linked under an earlier number is out of date.
  @usableFromInline let attachments = Atomic<UInt>(1)
  @inlinable var stamp: UInt { attachments.load(ordering: .relaxed) }

  /// Guarded by the tree lock: bindings that the object made of other instances.
  nonisolated(unsafe) var helpers = CompactTable<Unretained<DetailedBinding>>()

  /// Whether the process has made any attachment yet. Until then, no object takes part in the tree, and callers need
  /// not check whether an object's class conforms to `UDIObject`. The first such check would make the runtime go
  /// through all conformances in the program.
  static var areInUse: Bool { inUse.load(ordering: .relaxed) }
  private static let inUse = Atomic<Bool>(false)

  /// Makes an attachment for a new object, which is attached to nothing.
  public init() {
    // A relaxed store is enough: any thread that gets the object sees the store, because handing the object over orders
    // the store before whatever this thread reads.
    if !Self.areInUse { Self.inUse.store(true, ordering: .relaxed) }
  }

  deinit {
    guard owner.load(ordering: .relaxed) != 0 else { return }
    Tree.change { garbage in
      noteHolding(false)
      withdraw(where: { _ in true }, &garbage)
      // The object's bindings that a context's `bind` made are also withdrawn.
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

  /// The context that the object is attached to; nil if the object does not hold this context strongly.
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
    // The context is returned out of the lock: if it was loaded from a weak reference, this might be its last
    // reference.
    lock.withLock {
      if let attached = unsafe attached { return .attached(attached) }
      guard unsafe isWeak else { return .none }
      return unsafe attachedWeakly.map { .attached($0) } ?? .gone
    }
  }

  /// Returns the effective context. Reports if the object is attached to nothing, or if its context is gone.
  @usableFromInline
  func contextForLink(
    _ verb: String, _ type: Any.Type, _ name: UDIName?, _ site: CallSite, _ owner: AnyObject
  ) -> UDIContext? {
    effectiveContext(verb, owner, describing: { describeKey(TypeIdentity.of(type).text, name) }, at: site)
  }

  /// Returns the effective context: the attached one, or else `AppContext`. If the attached one is gone, reports this
  /// and returns nil.
  func effectiveContext(
    _ verb: String, _ owner: AnyObject, describing what: () -> String, at site: CallSite
  ) -> UDIContext? {
    switch state {
    case .attached(let context): return context
    case .none:
      reportUnattached(owner, verb, what, site)
      return AppContext
    case .gone:
      UDIReporter.current.report(
        .contextGone,
        """
        The \(Swift.type(of: owner)) used \(verb) for \(what()), but the context that it is attached to is gone: a \
        provider made the object for that context, which owned it. Keep the context as long as you use what it owns.
        """, at: site)
      return nil
    }
  }

  /// Reports that a verb was used while the object is attached to nothing, if the reporter wants to know.
  private func reportUnattached(_ owner: AnyObject, _ verb: String, _ what: () -> String, _ site: CallSite) {
    guard UDIReporter.someReportUnattachedUse.load(ordering: .relaxed) else { return }
    let reporter = UDIReporter.current
    guard reporter.reportsUnattachedUse else { return }
    reporter.report(
      .unattached,
      """
      The \(Swift.type(of: owner)) that is attached to no context used \(verb) for \(what()); AppContext served it. \
      Attach it first: `attach(to:)`.
      """, at: site)
  }

  /// The error of a lookup whose attached context is gone.
  @usableFromInline
  @inline(never)
  func goneError(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ asker: Asker
  ) -> any Error {
    UDILinkError(explanation: UDIExplanation(type, name, search ?? lastSearch, .contextGone)).seen(by: asker)
  }
}
