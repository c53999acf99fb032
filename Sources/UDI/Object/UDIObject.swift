/// A class whose instances take part in the tree: they can be attached to a context, bind themselves, and link the
/// dependencies that they need.
///
/// ```swift
/// final class Screen: UDIObject {
///   let _attachedContext = UDIAttachment()   // the only property that the protocol requires
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
/// The class has to declare both members as public if it is itself public: `public let _attachedContext =
/// UDIAttachment()` and `public func didAttachContext()`. The same goes for `package`.
///
/// An object strongly holds the context that it is attached to; a context never strongly holds an object because the
/// object is bound in it. (If a context owns the object, the object holds that context, and those above it, only
/// weakly.) Every verb works from the object's *effective context*: the one that the object is attached to, or
/// ``AppContext`` while the object is attached to none.
public protocol UDIObject: AnyObject, UDILinking {
  /// The object's attachment. Store it in a constant that is initialised with the object: `let _attachedContext =
  /// UDIAttachment()`. If it is made later, for example because it is `lazy`, a provider that makes the object might
  /// fail to attach it.
  var _attachedContext: UDIAttachment { get }

  /// Called when the object has been attached to a context. Here the object links the dependencies that it needs, and
  /// binds those that it offers.
  ///
  /// There is no default implementation, so that a subclass cannot forget the `override` on its own implementation.
  func didAttachContext()
}

extension UDIObject {
  /// The context that the object is attached to; nil if there is none, or if the context is gone.
  ///
  /// Setting a context has three steps: the bindings that the object has made with `bind` are withdrawn, the context is
  /// stored, and ``didAttachContext()`` is called, even if the context is the same as before. Bindings that the object
  /// has made with `multiBind` stay until the new context is closed or goes. Setting nil detaches the object: all
  /// bindings that it has made are withdrawn, and ``didAttachContext()`` is not called.
  ///
  /// - Complexity: O(bindings that are withdrawn).
  public var attachedContext: UDIContext? {
    get { _attachedContext.context }
    set { attach(to: newValue, at: nil) }
  }

  /// Attaches the object to a context and returns it: `window.screen = Screen().attached(to: context)`.
  ///
  /// Keep the returned object, for example in a stored property. A context does not hold objects, so an object that
  /// nothing else holds is released at once. A local constant is sure to hold it only until the constant's last use. To
  /// attach an object that something holds already, use ``attach(to:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - context: The context to attach to; see ``attachedContext`` for what happens.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The object.
  public func attached(to context: UDIContext, fileID: StaticString = #fileID, line: UInt = #line) -> Self {
    attach(to: context, at: UDICallSite(fileID, line))
    return self
  }

  /// Attaches the object, which something already holds, to a context: `screen.attach(to: context)`.
  ///
  /// - Parameters:
  ///   - context: The context to attach to; see ``attachedContext`` for what happens.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Complexity: O(bindings that are withdrawn).
  public func attach(to context: UDIContext, fileID: StaticString = #fileID, line: UInt = #line) {
    attach(to: context, at: UDICallSite(fileID, line))
  }

  /// Detaches the object, like setting ``attachedContext`` to nil: all bindings that it has made are withdrawn, and
  /// from then on its verbs use ``AppContext``.
  ///
  /// - Complexity: O(bindings that are withdrawn).
  public func detach() { attach(to: nil, at: nil) }

  private func attach(to context: UDIContext?, at site: UDICallSite?) {
    let attachment = _attachedContext
    guard attachment === _attachedContext else {
      fatalError(
        """
        \(describeType(type(of: self))) returns another attachment each time, so it would never be \
        attached. Store one: `let _attachedContext = UDIAttachment()`
        """)
    }
    attachment.remember(owner: self)
    Tree.change { attachment.attach(self, to: context, at: site, &$0) }
    if context != nil { didAttachContext() }
  }
}
