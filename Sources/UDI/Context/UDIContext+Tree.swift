/// Changing the tree.
extension UDIContext {
  /// Moves a context, with everything below it, from wherever it is to the end of this one's children.
  ///
  /// The move is one step: a lookup sees the context at its old place or at the new one, never at neither. If this
  /// context is the parent already, the child moves to the end of its siblings.
  ///
  /// - Parameter child: The context to add; from now on, this context holds it strongly.
  /// - Throws: ``UDITreeError``, with the tree unchanged: `duplicateTag` if another child has its tag, `cycle` if
  ///   `child` is this context or one above it.
  /// - Complexity: O(depth) to rule out a cycle, unless the child has no children; and for each key that is bound in
  ///   `child` or below it, O(log siblings) on every level whose answer changes.
  public func addChild(_ child: UDIContext) throws(UDITreeError) {
    try change { (node, garbage) throws(UDITreeError) in
      try child.withNode { (childNode) throws(UDITreeError) in
        try node.adopt(childNode, child, context: self)
        if BindingAudit.isOn { BindingAudit.noteMoved(child, childNode, &garbage) }
      }
      UDIAttachment.breakCircles(&garbage)
    }
  }

  /// Makes a context and adds it after this one's children.
  ///
  /// - Parameters:
  ///   - tag: The tag of the new context; no other child may have it.
  ///   - search: The direction of its lookups; by default that of this context.
  /// - Returns: The new context, which this one holds strongly.
  /// - Throws: ``UDITreeError/duplicateTag(_:parent:)``.
  /// - Complexity: O(1).
  @discardableResult
  public func makeChild(tag: String, search: UDISearch? = nil) throws(UDITreeError) -> UDIContext {
    try makeChild(tag: tag, search: search, isScope: false)
  }

  func makeChild(tag: String, search: UDISearch?, isScope: Bool) throws(UDITreeError) -> UDIContext {
    // The leak audits are notified below, when the child has its place in the tree.
    let child = UDIContext(unaudited: tag)
    try change { (node, garbage) throws(UDITreeError) in
      try child.withNode { (childNode) throws(UDITreeError) in
        childNode.treeLocked.isScope = isScope
        childNode.shared.search = search ?? node.shared.search
        if let lifetime = node.treeLocked.extras?.defaultLifetime {
          childNode.treeLocked.ensureExtras().defaultLifetime = lifetime
        }
        try node.adopt(childNode, child, isNew: true, context: self)
        if BindingAudit.isOn { BindingAudit.noteMade(child, childNode, &garbage) }
      }
    }
    return child
  }

  /// Takes a child, with everything below it, out of this context. Unless somebody holds the child, it goes away with
  /// its branch.
  ///
  /// - Parameter child: The context to remove.
  /// - Returns: Whether it was a child of this context.
  /// - Complexity: O(log siblings) for each key bound in the child or below it, on every level whose answer changes.
  @discardableResult
  public func removeChild(_ child: UDIContext) -> Bool {
    change { node, garbage in
      child.withNode { childNode in
        guard childNode.shared.parent == node else { return false }
        node.disown(childNode, &garbage)
        return true
      }
    }
  }

  /// Takes the child with a tag, with everything below it, out of this context.
  ///
  /// - Parameter tag: The tag of a direct child.
  /// - Returns: The child; nil if there is none with this tag.
  /// - Complexity: As for ``removeChild(_:)``.
  @discardableResult
  public func removeChild(tag: String) -> UDIContext? {
    change { node, garbage in
      guard let child = node.child(tagged: tag) else { return nil }
      let context = child.context
      node.disown(child, &garbage)
      return context
    }
  }

  /// Takes this context, with everything below it, out of its parent.
  ///
  /// - Returns: Whether it had a parent.
  /// - Complexity: As for ``removeChild(_:)``.
  @discardableResult
  public func removeFromParent() -> Bool {
    change { node, garbage in
      guard let parent = node.shared.parent else { return false }
      parent.disown(node, &garbage)
      return true
    }
  }
}
