/// A class whose instances take part in the tree: they bind themselves, and link what they need.
///
/// ```swift
/// final class Screen: UDIObject {
///   let _attachedContext = UDIAttachment()   // this line is all that a class adds
///   var clock: (any Clock)?
///
///   func didAttachContext() {
///     bind(self, as: (any Display).self)
///     link(\.clock)
///   }
/// }
/// window.screen = Screen().attached(to: context)   // the window holds the screen; the context does not
/// ```
///
/// Plain classes and `Sendable` final classes conform in this way. A `@MainActor` class declares
/// `@MainActor UDIObject`, or simply `UDIObject` in a module whose default isolation is the main actor. An actor writes
/// `nonisolated func didAttachContext()`.
///
/// An object strongly holds the context that it is attached to; a context never strongly holds what is bound in it. (If
/// a provider made an object and its context owns the object, the object refers to that context weakly.) Every verb
/// works from the object's *effective context*: the one that the object is attached to, or ``AppContext`` while it is
/// attached to none.
public protocol UDIObject: AnyObject {
  /// The object's attachment. Store it in a constant that is made with the object:
  /// `let _attachedContext = UDIAttachment()`. If the attachment is made later, for example because it is `lazy`, a
  /// provider that makes the object might fail to attach it.
  var _attachedContext: UDIAttachment { get }

  /// Called when the object has been attached to a context: here it links what it needs and binds what it offers.
  ///
  /// There is no default implementation, so that a subclass that wants its own hook cannot forget the `override`.
  func didAttachContext()
}

extension UDIObject {
  /// The context that the object is attached to; nil if it is attached to none, so that its verbs use ``AppContext``.
  ///
  /// Setting a context first withdraws what the object has bound with `bind`, then stores the context, and then calls
  /// ``didAttachContext()``, even if it is the same context again. What the object has bound with `multiBind` stays.
  /// Setting nil detaches the object: all bindings that it made are withdrawn, and the hook is not called.
  ///
  /// - Complexity: O(bindings withdrawn).
  public var attachedContext: UDIContext? {
    get { _attachedContext.context }
    set { attach(to: newValue, at: nil) }
  }

  /// Attaches the object to a context and returns it: `window.screen = Screen().attached(to: context)`.
  ///
  /// Keep the returned object, in a stored property for example: a context holds no object, and an object that nobody
  /// holds is gone at once. A local constant holds it only until the constant is last used. To attach an object that
  /// somebody holds already, use ``attach(to:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - context: The context to attach to; see ``attachedContext`` for what happens.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The object.
  public func attached(to context: UDIContext, fileID: StaticString = #fileID, line: UInt = #line) -> Self {
    attach(to: context, at: CallSite(fileID, line))
    return self
  }

  /// Attaches the object, which somebody already holds, to a context: `screen.attach(to: context)`.
  ///
  /// - Parameters:
  ///   - context: The context to attach to; see ``attachedContext`` for what happens.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Complexity: O(bindings withdrawn).
  public func attach(to context: UDIContext, fileID: StaticString = #fileID, line: UInt = #line) {
    attach(to: context, at: CallSite(fileID, line))
  }

  /// Detaches the object, as setting ``attachedContext`` to nil does: all bindings that it made are withdrawn, and from
  /// then on its verbs use ``AppContext``.
  ///
  /// - Complexity: O(bindings withdrawn).
  public func detach() { attach(to: nil, at: nil) }

  private func attach(to context: UDIContext?, at site: CallSite?) {
    let attachment = _attachedContext
    guard attachment === _attachedContext else {
      fatalError(
        """
        \(String(reflecting: type(of: self))) returns another attachment each time, so it would never be \
        attached. Store one: `let _attachedContext = UDIAttachment()`
        """)
    }
    attachment.remember(owner: Unretained<AnyObject>(self).address)
    attachment.attach(self, to: context, at: site)
    if context != nil { didAttachContext() }
  }
}
