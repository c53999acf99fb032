/// Finding contexts in the tree.
extension UDIContext {
  /// The context that this one is a child of; nil for a root.
  public var parent: UDIContext? {
    change { node, _ in node.shared.parent?.context }
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

  /// All contexts below this one, breadth-first.
  ///
  /// A lookup searches in the same order, but leaves out what is in scopes.
  ///
  /// - Complexity: O(contexts below).
  public var descendants: [UDIContext] {
    change { node, _ in BreadthFirst(node).dropFirst().compactMap { $0.node.context } }
  }

  /// The root of the tree that contains this context: this context itself if it has no parent.
  ///
  /// - Complexity: O(depth).
  public var root: UDIContext {
    change { node, _ in
      let root = node.root
      return root == node ? self : root.context ?? self
    }
  }

  /// The tags that lead to this context from the root, without the root's own; empty for a root.
  ///
  /// `root.context(at: path)` is the inverse.
  ///
  /// - Complexity: O(depth).
  public var path: [String] {
    Array(change { node, _ in node.fullPath }.dropFirst())
  }

  /// Returns the context that a path leads to.
  ///
  /// - Parameter path: The tag of a child, then of one of its children, and so on. An empty path leads to this context.
  /// - Returns: The context; nil if there is none for some tag on the path.
  /// - Complexity: O(tags), independent of the number of siblings.
  public func context(at path: some Sequence<String>) -> UDIContext? {
    // The sequence is read before the lock is taken: it is the caller's code, and might do anything.
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

  /// Returns the child with a tag.
  ///
  /// - Parameter tag: The tag to look for, one level below this context.
  /// - Returns: The child, or nil if there is none with this tag.
  /// - Complexity: O(1).
  public func child(tag: String) -> UDIContext? {
    change { node, _ in node.child(tagged: tag)?.context }
  }

  /// Returns the first context below this one that has a tag, breadth-first.
  ///
  /// - Parameter tag: The tag to look for; this context's own does not count.
  /// - Returns: The context, or nil if there is none with this tag.
  /// - Complexity: O(contexts below). Lookups of dependencies do not use it.
  public func descendant(tag: String) -> UDIContext? {
    change { node, _ in
      BreadthFirst(node).first { $0.parent != nil && $0.node.tag == tag }?.node.context
    }
  }

  /// Does the same as ``descendant(tag:)``, under the name that the original library uses.
  ///
  /// - Parameter tag: The tag to look for; this context's own does not count.
  /// - Returns: The context, or nil if there is none with this tag.
  /// - Complexity: O(contexts below).
  public func find(_ tag: String) -> UDIContext? { descendant(tag: tag) }
}
