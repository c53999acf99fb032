/// A node of the tree: it has a tag, a parent, ordered children, and holds dependencies weakly.
///
/// ```swift
/// let checkout = try AppContext.makeChild(tag: "Checkout")
/// checkout.bind(cart, as: (any Cart).self)
/// checkout.link((any Cart).self)    // cart, for as long as somebody holds it
/// AppContext.link((any Cart).self)  // the same: a lookup falls back into the contexts below
/// ```
///
/// A parent holds its children strongly, a child holds its parent weakly: whoever holds a context holds all below it, and
/// removing a child from its parent lets go of the branch. Binding never keeps a dependency alive.
///
/// Contexts can be used from any thread. No lookup enters a sibling branch, and its cost does not depend on the size of
/// the tree.
public final class UDIContext: Sendable {
  let node: Node

  /// Makes a context that is the root of a tree of its own; add it to another one with ``addChild(_:)``.
  ///
  /// - Parameters:
  ///   - tag: Any text. It names the context among its siblings, in ``find(_:)`` and in messages.
  ///   - search: The direction of lookups that name none.
  public init(tag: String, search: UDISearch = .descendants) {
    node = Node(tag: tag, search: search)
  }

  deinit {
    node.dismantle()
    node.free()
  }

  /// The text that names the context; unique among siblings.
  public var tag: String { node.tag }

  /// The direction that lookups take when they name none. ``makeChild(tag:)`` hands it on to the child; contexts that exist
  /// already keep theirs.
  public var search: UDISearch {
    get { node.defaultSearch }
    set { node.defaultSearch = newValue }
  }
}

extension UDIContext: Hashable {
  /// Whether both are the same context.
  public static func == (left: UDIContext, right: UDIContext) -> Bool { left === right }

  /// Hashes the identity of the context.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UDIContext: CustomStringConvertible {
  /// The tags from the root to the context: `App / Checkout / Payment`.
  ///
  /// - Complexity: O(depth).
  public var description: String {
    Tree.change { _ in node.fullPath }.joined(separator: " / ")
  }
}
