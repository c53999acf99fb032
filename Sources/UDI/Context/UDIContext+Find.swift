/// Ways to find contexts in the tree. `UDIContext+LookUp.swift` finds dependencies.
extension UDIContext {
  /// The context that this context is a child of; nil for a root.
  public var parent: UDIContext? { change { node, _ in node.parent?.context } }

  /// The children, in the order in which they were added.
  ///
  /// - Complexity: O(children).
  public var children: [UDIContext] { change { node, _ in node.children.compactMap(\.context) } }

  /// All contexts below this one, breadth-first.
  ///
  /// Lookups search in the same order, but skip scopes.
  ///
  /// - Complexity: O(contexts below).
  public var descendants: [UDIContext] {
    change { node, _ in BreadthFirst(node).dropFirst().compactMap(\.node.context) }
  }

  /// The root of the tree that contains this context. A context without a parent is its own root.
  ///
  /// - Complexity: O(depth).
  public var root: UDIContext { change { node, _ in node.root.context ?? self } }

  /// The tags on the way from the root to this context, without the root's tag; empty for a root.
  ///
  /// The inverse is `root.context(at: path)`. Errors, events and other values have a `fullPath` instead.
  ///
  /// - Complexity: O(depth).
  public var path: [String] { Array(fullPath.dropFirst()) }

  /// The tags on the way from the root to this context, both included.
  ///
  /// Errors, events, explanations and snapshots have a `fullPath`, too, because they may be about contexts of several
  /// trees. A context that was removed from its parent is a root.
  ///
  /// - Complexity: O(depth).
  public var fullPath: [String] { change { node, _ in node.fullPath } }

  /// Returns the context at the given path.
  ///
  /// - Parameter path: The tag of a child of this context, then of one of that child's children, and so on. An empty
  ///   path leads to this context.
  /// - Returns: The context, or nil if there is no child with one of the tags.
  /// - Complexity: O(tags), independent of the number of siblings.
  public func context(at path: some Sequence<String>) -> UDIContext? {
    // The sequence is read before the lock is taken, because it might be user code.
    let path = Array(path)
    if path.isEmpty { return self }
    return change { node, _ in path.reduce(Optional(node)) { $0?.child(tagged: $1) }?.context }
  }

  /// Returns the child that has the given tag.
  ///
  /// - Parameter tag: The tag to look for, one level below this context.
  /// - Returns: The child, or nil if no child has this tag.
  /// - Complexity: O(1).
  public func child(tag: String) -> UDIContext? { change { node, _ in node.child(tagged: tag)?.context } }
}

extension UDILinking {
  /// Returns the first context below that has the given tag, in breadth-first order. Scopes are included.
  ///
  /// - Parameters:
  ///   - tag: The tag to look for, at any depth below the context, or below the object's effective context.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The context, or nil if there is none.
  /// - Complexity: O(contexts below).
  public func find(_ tag: String, fileID: StaticString = #fileID, line: UInt = #line) -> UDIContext? {
    let context =
      switch _origin {
      case .context(let context): context as UDIContext?
      case .object(let attachment, let owner):
        attachment.effectiveContext("find", owner, "the context \"\(oneLine(tag))\"", at: UDICallSite(fileID, line))
      }
    return context?.change { node, _ in BreadthFirst(node).dropFirst().first { $0.node.tag == tag }?.node.context }
  }
}
