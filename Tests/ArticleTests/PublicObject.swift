public import UDI

// A public class in "Getting started": `.ci/articles` compares it with the article. It is in a file of its own, because
// imports are internal by default in this module.

/// A public class that takes part in the tree.
public final class Porter: UDIObject {
  /// The object's attachment, which is as public as the class.
  public let _attachedContext = UDIAttachment()
  /// Has nothing to do.
  public func didAttachContext() {}
}
