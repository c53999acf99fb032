/// Finding contexts by their tags, from an object.
extension UDIObject {
  /// Returns the first context below the object's effective context that has the given tag, in breadth-first order.
  ///
  /// - Parameters:
  ///   - tag: The tag to look for.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The context, or nil if no context below has this tag.
  /// - Complexity: O(contexts below). Lookups of dependencies do not use this method.
  public func descendant(tag: String, fileID: StaticString = #fileID, line: UInt = #line) -> UDIContext? {
    descendant(tag, "descendant", CallSite(fileID, line))
  }

  /// Does the same as ``descendant(tag:fileID:line:)``, under the name that the original library uses.
  ///
  /// - Parameters:
  ///   - tag: The tag to look for.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The context, or nil if no context below has this tag.
  /// - Complexity: O(contexts below).
  public func find(_ tag: String, fileID: StaticString = #fileID, line: UInt = #line) -> UDIContext? {
    descendant(tag, "find", CallSite(fileID, line))
  }

  private func descendant(_ tag: String, _ verb: String, _ site: CallSite) -> UDIContext? {
    _attachedContext.effectiveContext(verb, self, describing: { "the context \"\(oneLine(tag))\"" }, at: site)?
      .descendant(tag: tag)
  }
}
