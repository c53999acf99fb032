/// Ways to change the tree.
extension UDIContext {
  /// Adds a context, together with everything below it, as the last child of this context.
  ///
  /// If the child has another parent, it leaves that parent.
  ///
  /// The move is a single step: at every moment, a lookup sees the child at its old place or at the new one. If this
  /// context is the parent already, the child moves to the end of its siblings.
  ///
  /// - Parameter child: The context to add. From now on, this context holds it strongly.
  /// - Throws: ``UDITreeError``, with the tree unchanged. The error is `duplicateTag` if another child has the same
  ///   tag, `cycle` if `child` is this context or one above it, or `closed` if either is closed or is being closed.
  /// - Complexity: O(depth) to rule out a cycle, unless the child has no children; and, for each key that has a
  ///   dependency in `child` or below it, O(log siblings) on each level whose answer changes.
  public func addChild(_ child: UDIContext) throws(UDITreeError) {
    try change { (node, garbage) throws(UDITreeError) in
      try node.adopt(child.withNode { $0 }, child, context: self)
      if AuditNotice.isOn { AuditNotice.note(child, isNew: false, in: child, &garbage) }
      UDIAttachment.breakCircles(&garbage)
    }
  }

  /// Makes a context, and adds it as the last child of this context.
  ///
  /// - Parameters:
  ///   - tag: The tag of the new context. No other child of this context may have it.
  ///   - search: The direction of lookups from the new context; by default this context's.
  /// - Returns: The new context, which this context holds strongly.
  /// - Throws: ``UDITreeError``: `duplicateTag` if another child has the same tag, or `closed` if this context is
  ///   closed or is being closed.
  /// - Complexity: O(1).
  @discardableResult
  public func makeChild(tag: String, search: UDISearch? = nil) throws(UDITreeError) -> UDIContext {
    try makeChild(tag: tag, search: search, isScope: false, kind: nil)
  }

  @inline(never)
  func makeChild(tag: String, search: UDISearch?, isScope: Bool, kind: String?) throws(UDITreeError) -> UDIContext {
    // The initialiser does not notify the leak audits. They are notified when the child has its place in the tree.
    let child = UDIContext(unaudited: tag)
    try change { (node, garbage) throws(UDITreeError) in
      let childNode = child.withNode { $0 }
      childNode.treeLocked.isScope = isScope
      if let kind, kind != tag { childNode.treeLocked.ensureExtras().scopeKind = kind }
      childNode.shared.search = search ?? node.shared.search
      node.passOnDefaults(to: childNode)
      try node.adopt(childNode, child, isNew: true, context: self)
      if AuditNotice.isOn { AuditNotice.note(child, isNew: true, in: child, &garbage) }
    }
    return child
  }

  /// Removes a child, together with everything below it, from this context.
  ///
  /// If nothing else holds the child, the whole branch is released.
  ///
  /// - Parameter child: The child to remove.
  /// - Returns: Whether it was a child of this context.
  /// - Complexity: O(log siblings) for each key that has a dependency in the child or below it, on each level whose
  ///   answer changes.
  @discardableResult
  public func removeChild(_ child: UDIContext) -> Bool { withNode { child.leaveParent(onlyIf: $0) } }

  /// Removes the child that has the given tag, together with everything below it, from this context.
  ///
  /// - Parameter tag: The tag of a direct child.
  /// - Returns: The child, or nil if no child has this tag.
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

  /// Removes this context, together with everything below it, from its parent.
  ///
  /// - Returns: Whether it had a parent.
  /// - Complexity: As for ``removeChild(_:)``.
  @discardableResult
  public func removeFromParent() -> Bool { leaveParent() }

  /// - Parameter wanted: The parent from which to remove this context; nil for any.
  private func leaveParent(onlyIf wanted: Node? = nil) -> Bool {
    change { node, garbage in
      guard let parent = node.parent, wanted == nil || wanted == parent else { return false }
      parent.disown(node, &garbage)
      return true
    }
  }
}
