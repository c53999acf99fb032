/// A node of the tree.
///
/// A context has a tag, a parent and ordered children. It weakly holds the instances that are bound in it, and it has
/// providers that make dependencies.
///
/// ```swift
/// let checkout = try AppContext.makeChild(tag: "Checkout")
/// checkout.bind(cart, as: (any Cart).self)
/// checkout.link((any Cart).self)    // cart, for as long as somebody holds it
/// AppContext.link((any Cart).self)  // the same: a lookup looks here, then below, then above
/// ```
///
/// A parent holds its children strongly, and a child holds its parent weakly. A reference to a context therefore keeps
/// all contexts below it alive. Removing a child from its parent releases the branch, unless something else holds the
/// child. Binding never keeps a dependency alive. A context owns only the instances that its providers make and keep,
/// and those that were passed to `provide`.
///
/// A scope (``makeScope(tag:kind:search:)``) is a context that lookups from outside do not enter.
///
/// Contexts can be used from any thread. No lookup enters a sibling branch. The time that a lookup takes depends on how
/// many levels it climbs, but not on the number of contexts.
public final class UDIContext: UDILinking, UDIFinder, Hashable, Sendable, CustomStringConvertible {
  private let node: Node

  /// Makes a context that is the root of its own tree. To add it to an existing context, use ``addChild(_:)``.
  ///
  /// - Parameters:
  ///   - tag: Any text. It names the context among its siblings, in ``UDILinking/find(_:fileID:line:)``, and in
  ///     messages.
  ///   - search: The direction of lookups that do not name one.
  ///   - setUp: Called with the new context, to bind and register its dependencies.
  /// - Throws: The error that `setUp` throws.
  public init(tag: String, search: UDISearch = .lineage, setUp: ((UDIContext) throws -> Void)? = nil) rethrows {
    node = Node(tag: tag, search: search)
    if AuditNotice.isOn { change { _, garbage in AuditNotice.note(self, isNew: true, in: self, &garbage) } }
    if setUp != nil { noteSetUp(isRunning: true) }
    defer { if setUp != nil { noteSetUp(isRunning: false) } }
    try setUp?(self)
  }

  /// Notes whether a set-up block is running. Its registrations may be replaced without a report.
  package func noteSetUp(isRunning: Bool) { change { node, _ in node.treeLocked.isBeingSetUp = isRunning } }

  /// Makes a context without notifying the leak audits of it.
  init(unaudited tag: String) { node = Node(tag: tag, search: .lineage) }

  deinit {
    node.dismantle()
    node.free()
  }

  /// Passes the context's node to `body`. Keeps the context alive during the call, and with it the node's memory.
  ///
  /// There is no other way from a context to its node. A node that is used after its context has been released is a
  /// pointer to freed memory.
  @inline(__always)
  package func withNode<Result, Failure: Error>(_ body: (Node) throws(Failure) -> Result) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(node)
  }

  /// Runs `body` with the context's node under the tree lock, to change the tree or to read from it.
  @inline(__always)
  package func change<Result, Failure: Error>(
    _ body: (Node, inout Garbage) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withNode { (node) throws(Failure) in
      try Tree.change { (garbage) throws(Failure) in try body(node, &garbage) }
    }
  }

  /// Marks this context, so that lookups that begin here are recorded.
  func recordLookups() { change { node, _ in node.recordLookups() } }

  /// Of this context and those above, the path of the outermost one that is ending; nil if this one is not.
  var endingPath: [String]? { change { node, _ in node.endingPath } }

  /// A text that names the context; unique among siblings.
  public var tag: String { withNode(\.tag) }

  /// The direction of lookups that do not name one.
  ///
  /// There is one exception: lookups by a factory that was given this context, or by its `onCreate`, go up.
  /// ``makeChild(tag:search:)`` passes the direction on to the new child; contexts that exist already keep theirs.
  public var search: UDISearch {
    get { withNode { node in node.lock.withLock { node.shared.search } } }
    set {
      change { node, _ in
        node.lock.withLock { node.shared.search = newValue }
        node.tellFollowersOfSearch()
      }
    }
  }

  /// Returns whether both values are the same context.
  public static func == (left: UDIContext, right: UDIContext) -> Bool { left === right }

  /// Hashes the identity of the context.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The tags from the root to the context: `App / Checkout / Payment`.
  ///
  /// - Complexity: O(depth).
  public var description: String { describePath(fullPath) }

  // MARK: - For `UDILinking`

  /// The context itself. For the library only.
  @_alwaysEmitIntoClient public var _attachedContext: UDIContext { self }
  /// Returns the place where lookups begin. For the library only.
  @_alwaysEmitIntoClient public func _origin(for asker: AnyObject) -> UDIOrigin { .context(self) }
}
