/// Finding one's way in the tree.
extension UDIContext {
  /// The context that this one is a child of; nil for a root.
  public var parent: UDIContext? {
    change { node, _ in node.parent?.context }
  }

  /// The children, in the order in which they were added.
  ///
  /// - Complexity: O(children).
  public var children: [UDIContext] {
    change { node, _ in
      var children: [UDIContext] = []
      node.forEachChild { if let context = $0.context { children.append(context) } }
      return children
    }
  }

  /// Everything below this context, breadth-first: the order in which a lookup looks, which
  /// leaves out what is in scopes.
  ///
  /// - Complexity: O(contexts below).
  public var descendants: [UDIContext] {
    change { node, _ in BreadthFirst(node).dropFirst().compactMap(\.node.context) }
  }

  /// The root of the tree that this context is in: itself, if it has no parent.
  ///
  /// - Complexity: O(depth).
  public var root: UDIContext {
    change { node, _ in
      var root = node
      while let parent = root.parent { root = parent }
      return root == node ? self : root.context ?? self
    }
  }

  /// The tags below the root that lead to this context; empty for a root. `root.context(at: path)` leads back.
  ///
  /// - Complexity: O(depth).
  public var path: [String] {
    Array(change { node, _ in node.fullPath }.dropFirst())
  }

  /// The context that a path leads to.
  ///
  /// - Parameter path: The tag of a child, then of a child of that one, and so on. An empty path leads to this context.
  /// - Returns: Nil if some tag on the way is not there.
  /// - Complexity: O(tags), independent of the number of siblings.
  public func context(at path: some Sequence<String>) -> UDIContext? {
    // Read first: a sequence is the caller's code and may do anything, which must not happen under the lock.
    let path = Array(path)
    return change { node, _ in
      var current = node
      for tag in path {
        guard let child = current.child(tagged: tag) else { return nil }
        current = child
      }
      return current == node ? self : current.context
    }
  }

  /// The child with a tag.
  ///
  /// - Parameter tag: The tag to look for, one level below this context.
  /// - Returns: The child, or nil if there is none with this tag.
  /// - Complexity: O(1).
  public func child(tag: String) -> UDIContext? {
    change { node, _ in node.child(tagged: tag)?.context }
  }

  /// The first context below this one with a tag, breadth-first.
  ///
  /// - Parameter tag: The tag to look for; this context's own does not count.
  /// - Returns: The context, or nil if there is none with this tag.
  /// - Complexity: O(contexts below). Lookups of dependencies do not use it.
  public func descendant(tag: String) -> UDIContext? {
    change { node, _ in
      BreadthFirst(node).first { $0.parent != nil && $0.node.tag == tag }?.node.context
    }
  }

  /// The same as ``descendant(tag:)``, as the original library spells it.
  ///
  /// - Parameter tag: The tag to look for; this context's own does not count.
  /// - Returns: The context, or nil if there is none with this tag.
  /// - Complexity: O(contexts below).
  public func find(_ tag: String) -> UDIContext? { descendant(tag: tag) }
}
