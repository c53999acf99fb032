/// Changing the tree.
extension UDIContext {
  /// Puts a context, with all below it, at the end of this one's children, from wherever it was.
  ///
  /// The move is one step: a lookup sees the context at its old place or at the new one, never at none. Adding a context to the
  /// parent it has already moves it behind its siblings.
  ///
  /// - Parameter child: The context to add; from now on this context holds it strongly.
  /// - Throws: ``UDITreeError``, with the tree as it was: `duplicateTag` if there is another child with its tag, `cycle` if
  ///   `child` is this context or one above it.
  /// - Complexity: O(depth) to rule out a cycle, which a context without children skips; and for each of the k keys
  ///   that are bound in `child` or below it, O(log siblings) on every level whose answer changes.
  public func addChild(_ child: UDIContext) throws(UDITreeError) {
    try change { (node, garbage) throws(UDITreeError) in
      try child.withNode { (childNode) throws(UDITreeError) in
        try node.adopt(childNode, child, context: self)
        if BindingAudit.isOn { BindingAudit.noteMoved(child, childNode, &garbage) }
      }
      UDIAttachment.breakCircles(&garbage)
    }
  }

  /// Makes a context and adds it behind this one's children.
  ///
  /// - Parameters:
  ///   - tag: The tag of the new context; no other child may have it.
  ///   - search: The direction of its lookups; by default that of this context.
  /// - Returns: The new context, which this one holds strongly.
  /// - Throws: ``UDITreeError/duplicateTag(_:parent:)``.
  /// - Complexity: O(1).
  @discardableResult
  public func makeChild(tag: String, search: UDISearch? = nil) throws(UDITreeError) -> UDIContext {
    // The leak audits are told below, when it has its place in the tree.
    let child = UDIContext(unaudited: tag)
    try change { (node, garbage) throws(UDITreeError) in
      try child.withNode { (childNode) throws(UDITreeError) in
        childNode.search = search ?? node.search
        childNode.defaultLifetime = node.defaultLifetime
        try node.adopt(childNode, child, isNew: true, context: self)
        if BindingAudit.isOn { BindingAudit.noteMade(child, childNode, &garbage) }
      }
    }
    return child
  }

  /// Takes a child, with all below it, out of this context. Unless somebody holds it, it goes away with its branch.
  ///
  /// - Parameter child: The context to remove.
  /// - Returns: Whether it was a child of this context.
  /// - Complexity: O(log siblings) for each key bound in the child or below it, on every level whose answer changes.
  @discardableResult
  public func removeChild(_ child: UDIContext) -> Bool {
    change { node, garbage in
      child.withNode { childNode in
        guard childNode.parent == node else { return false }
        node.disown(childNode, &garbage)
        return true
      }
    }
  }

  /// Takes the child with a tag, with all below it, out of this context.
  ///
  /// - Parameter tag: The tag of a direct child.
  /// - Returns: The child; nil if there is none with this tag.
  /// - Complexity: As ``removeChild(_:)``.
  @discardableResult
  public func removeChild(tag: String) -> UDIContext? {
    change { node, garbage in
      guard let child = node.child(tagged: tag) else { return nil }
      let context = child.context
      node.disown(child, &garbage)
      return context
    }
  }

  /// Takes this context, with all below it, out of its parent.
  ///
  /// - Returns: Whether it had a parent.
  /// - Complexity: As ``removeChild(_:)``.
  @discardableResult
  public func removeFromParent() -> Bool {
    change { node, garbage in
      guard let parent = node.parent else { return false }
      parent.disown(node, &garbage)
      return true
    }
  }
}
