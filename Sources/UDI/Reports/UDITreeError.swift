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
      "\(quoted(parent)) already has a child with the tag \(quoted([tag])). Remove that first, or use another tag."
    case .cycle(let child, let parent):
      "The context \(quoted(child)) was not added to \(quoted(parent)): a context cannot be below itself."
    case .closed(let closed, let child, let parent):
      "\(quoted(child)) was not added to \(quoted(parent)): the context \(quoted(closed)) is closed, or being closed."
    }
  }
}
