/// A class whose instances take part in the tree.
///
/// The instances can be attached to a context, bind themselves, and link the dependencies that they need.
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
/// If the class is public, it has to declare both members as public, too:
/// `public let _attachedContext = UDIAttachment()` and `public func didAttachContext()`. The same applies to `package`.
///
/// An object strongly holds the context that it is attached to. Binding an object never makes a context hold it
/// strongly. (If a context owns the object, the object holds that context, and those above it, only weakly.) Every verb
/// begins at the object's *effective context*: the one that the object is attached to, or ``AppContext`` while the
/// object is attached to none.
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

/// A ``UDIObject`` of a final class that has nothing to do when it is attached.
///
/// Such a class need not implement ``UDIObject/didAttachContext()``.
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
