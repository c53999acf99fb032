/// The reason why a context could not be added to its new parent. The tree is unchanged.
///
/// Contexts are named by their paths: the tags from the root to the context, including the root's.
@nonexhaustive
public enum UDITreeError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The parent already has another child with this tag.
  case duplicateTag(String, parent: [String])
  /// The child is the parent itself or is above it.
  case cycle(child: [String], parent: [String])
  /// One of the two contexts is closed or is being closed; the first value is its path.
  case closed([String], child: [String], parent: [String])

  /// A description of the problem, and advice.
  public var description: String { message.text }

  private var message: Message {
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
