/// Why a context could not be added to another one. The tree is unchanged.
///
/// Contexts are named by their paths: the tags from the root to the context, including the root's.
@nonexhaustive
public enum UDITreeError: Error, Hashable, Sendable {
  /// The parent already has another child with this tag.
  case duplicateTag(String, parent: [String])
  /// The child is the parent itself, or the parent is somewhere below the child.
  case cycle(child: [String], parent: [String])
  /// One of the two contexts, the first one given here, is being closed or is closed.
  case closed([String], child: [String], parent: [String])
}

extension UDITreeError: CustomStringConvertible {
  /// What went wrong, and what to do about it.
  public var description: String {
    switch self {
    case .duplicateTag(let tag, let parent):
      """
      The context "\(oneLine(tag))" was not added to \(quoted(parent)), which already has a child with this tag. \
      Remove that child first, or give the new one another tag.
      """
    case .cycle(let child, let parent) where child == parent:
      "The context \(quoted(child)) was not added to \(quoted(parent)): a context cannot be its own child."
    case .cycle(let child, let parent):
      """
      The context \(quoted(child)) was not added to \(quoted(parent)), which is below it: that would be a cycle. \
      Move \(quoted(parent)) elsewhere first.
      """
    case .closed(let closed, let child, let parent):
      """
      The context \(quoted(child)) was not added to \(quoted(parent)): \(quoted(closed)) is closed, or is being \
      closed. Add it before `close()` is called, or to another context.
      """
    }
  }
}
