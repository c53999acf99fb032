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
public protocol UDIObject: UDILinking where _Finder == UDIAttachment {
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
  /// Setting a context has four steps, even if the context is the same as before: the bindings that the object has made
  /// with `bind` are withdrawn, the context is stored, what the object requires is looked up (see ``Required``), and
  /// ``didAttachContext()`` is called. Bindings that the object has made with `multiBind` stay until the new context is
  /// closed or goes. Setting nil detaches the object: all bindings that it has made are withdrawn, and
  /// ``didAttachContext()`` is not called. From then on, the object's verbs use ``AppContext``.
  ///
  /// - Complexity: O(bindings that are withdrawn), and the lookups of what the object requires.
  public var attachedContext: UDIContext? {
    get { _attachedContext.context }
    set { setContext(newValue, at: nil) }
  }

  /// Attaches the object to a context and returns it: `window.screen = Screen().attached(to: context)`.
  ///
  /// Keep the returned object, for example in a stored property. A context does not hold objects, so an object that
  /// nothing else holds is released at once. A local constant is sure to hold it only until the constant's last use. To
  /// attach an object that something holds already, set ``attachedContext``.
  ///
  /// - Parameters:
  ///   - context: The context to attach to; see ``attachedContext`` for what happens.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The object.
  public func attached(to context: UDIContext, fileID: StaticString = #fileID, line: UInt = #line) -> Self {
    setContext(context, at: UDICallSite(fileID, line))
    return self
  }

  /// Attaches the object to the context that another object uses, and returns it: `Row().attached(to: self)`.
  ///
  /// This is for objects that make others. The context is the one that the other object is attached to, or
  /// ``AppContext`` if it is attached to none. If the other object's context is gone, this object stays as it is, and
  /// the mistake is reported.
  ///
  /// - Parameters:
  ///   - object: The object that is attached already.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: This object.
  public func attached(to object: some UDIObject, fileID: StaticString = #fileID, line: UInt = #line) -> Self {
    let site = UDICallSite(fileID, line)
    let context = object._attachedContext.effectiveContext("attached(to:)", object, "the \(type(of: self))", at: site)
    if let context { setContext(context, at: site) }
    return self
  }

  private func setContext(_ context: UDIContext?, at site: UDICallSite?) {
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
    if context == nil { return attachment.forgetNeeds(of: self) }
    // If a factory has attached the object elsewhere, the hook has been called for that.
    if attachment.meetNeeds(of: self, at: site) { didAttachContext() }
  }
}

/// A ``UDIObject`` of a final class that has nothing to do when it is attached, so it need not implement
/// ``UDIObject/didAttachContext()``.
///
/// ```swift
/// final class Row: UDIFinalObject {
///   let _attachedContext = UDIAttachment()
///   @Required var store: any Store
/// }
/// ```
///
/// Only final classes and actors can conform. In a subclass of any other class, an implementation of
/// `didAttachContext()` without `override` would never be called, and the compiler would not notice.
public protocol UDIFinalObject: UDIObject {
  /// The class itself. The compiler refuses classes that are not final, because the type would differ in subclasses.
  associatedtype FinalClass = Self where FinalClass == Self
}

extension UDIFinalObject {
  /// Does nothing.
  public func didAttachContext() {}
}
