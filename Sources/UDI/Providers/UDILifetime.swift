/// How long an instance is kept, and who shares it.
///
/// | lifetime | an instance is |
/// |---|---|
/// | ``context`` | made once, and owned by the context that its provider is registered in |
/// | ``scope``, ``scope(_:)`` | made once in each scope (of a kind) that asks, and owned by that scope |
/// | ``unique`` | made at every link |
/// | ``graph`` | shared within one outermost link and everything that is linked during it |
/// | ``weak`` | kept as long as something outside holds it, then made anew |
///
/// A registration that names no lifetime has ``context``, or what ``UDIContext/defaultLifetime`` says. If its factory
/// takes arguments, it has ``unique``.
///
/// A lifetime of your own has a name, by which ``UDIContext/reset(_:)`` recognises it, and a storage:
///
/// ```swift
/// extension UDILifetime {
///   static let session = UDILifetime("session")
/// }
/// context.register((any Cart).self, lifetime: .session) { Basket() }
/// context.reset(.session)    // the next link makes another basket
/// ```
public struct UDILifetime: Hashable, Sendable, CustomStringConvertible {
  /// How the library implements a lifetime.
  package enum Sharing: UInt8, Sendable { case unique, graph, weak, strong, custom, scope }

  /// Where the instances of a lifetime of your own are kept.
  @nonexhaustive
  public enum Storage: Sendable {
    /// The context owns the instances until it is reset, is closed or goes away.
    case strong
    /// Each instance is kept for as long as something else holds it.
    case weak
    /// Your own storage decides how instances are kept. The closure makes the storage for one provider and one set of
    /// arguments. At any time, the provider uses one storage for each set of arguments. The closure can be called again
    /// for the same set: if several threads need the storage at once, each might make one, of which only one is used;
    /// and a storage that was found empty may be discarded, and a new one made when the dependency is linked again.
    case custom(@Sendable () -> any UDIStorage)
  }

  /// The properties of a lifetime. They are behind a reference, so that a lifetime takes only one pointer in each
  /// provider.
  final class Kind: Sendable {
    let name: String
    let sharing: Sharing
    let makeStorage: (@Sendable () -> any UDIStorage)?
    let isBuiltIn: Bool
    /// The kind of scopes that own the instances; nil for any kind.
    let scopeKind: String?

    fileprivate init(
      _ name: String, _ sharing: Sharing, _ makeStorage: (@Sendable () -> any UDIStorage)? = nil,
      isBuiltIn: Bool = true, scopeKind: String? = nil
    ) {
      (self.name, self.sharing, self.makeStorage) = (name, sharing, makeStorage)
      (self.isBuiltIn, self.scopeKind) = (isBuiltIn, scopeKind)
    }
  }

  let kind: Kind

  init(_ kind: Kind) { self.kind = kind }
  /// Creates a lifetime of your own.
  ///
  /// - Parameters:
  ///   - name: The lifetime's name. Two lifetimes of your own with the same name are equal, so
  ///     ``UDIContext/reset(_:)`` does not tell them apart.
  ///   - storage: Where the instances are kept.
  public init(_ name: String, storage: Storage = .strong) {
    kind =
      switch storage {
      case .strong: Kind(name, .strong, isBuiltIn: false)
      case .weak: Kind(name, .weak, isBuiltIn: false)
      case .custom(let make): Kind(name, .custom, make, isBuiltIn: false)
      }
  }

  package var name: String { kind.name }

  /// Each link makes a new instance. The factory is given the context that asked.
  public static let unique = UDILifetime(Kind("unique", .unique))

  /// An instance is shared within one outermost link, that is, by everything that is linked during it. The instance can
  /// be a value.
  ///
  /// There is one exception: while an instance that is kept under a different lifetime is being made, the links made
  /// for it share only among themselves. The factory is given the context that asked first. A lookup of the instance
  /// while it is being made is a cycle, whichever context asks.
  public static let graph = UDILifetime(Kind("graph", .graph))

  /// An instance is kept as long as something else holds it. After that, the next link makes a new one.
  ///
  /// This lifetime is only for class instances. A value cannot be kept in this way: each link makes a new one, and
  /// reports a misuse. The factory is given the context that it is registered in.
  public static let weak = UDILifetime(Kind("weak", .weak))

  /// An instance is made once. The context in which the provider is registered owns it until that context is reset, is
  /// closed or goes away. The factory is given this context.
  public static let context = UDILifetime(Kind("context", .strong))

  /// An instance is made once in each scope, and owned by that scope.
  ///
  /// Register the provider once, in a context that all scopes see, such as the root. A lookup gets the instance of the
  /// nearest scope around the context that asks, which may be that context itself
  /// (``UDIContext/makeScope(tag:kind:search:)``, ``UDIContext/withScope(tag:kind:search:operation:)``). The scope
  /// makes the instance when it is first asked. The factory is given the scope, so the instance is made from what the
  /// scope sees. It lives until the scope is reset, is closed or goes away. A scope in which nothing asks makes
  /// nothing.
  ///
  /// ```swift
  /// root.register((any Transaction).self, lifetime: .scope) { context in
  ///   try Transaction(on: context.require((any Database).self))
  /// }.onClose { transaction in
  ///   try await transaction.commit()
  /// }
  /// try await root.withScope(tag: "request") { scope in
  ///   try scope.require((any Transaction).self).insert(order)
  /// }
  /// ```
  ///
  /// A lookup with no scope around it is a miss. Nothing that a context outside owns can therefore be made of such an
  /// instance, which might end before it. So is a lookup whose nearest scope is above the context in which the provider
  /// is registered: its instances would outlive that context.
  ///
  /// While a scope is being closed, and afterwards, it makes none. For the contexts below it, no scope further out
  /// takes its place.
  ///
  /// If the registration is replaced or taken back, lookups no longer find what scopes have made with it. The scopes
  /// still own these instances, and close them.
  public static let scope = UDILifetime(Kind("scope", .scope))

  /// An instance is made once in each scope of a kind, and owned by that scope.
  ///
  /// This is ``scope``, except that the nearest scope of the given kind makes and owns the instance, even if there are
  /// scopes of other kinds further in.
  ///
  /// ```swift
  /// root.register(Typing.self, lifetime: .scope("room")) { Typing() }
  /// let session = try root.makeScope(tag: "session")
  /// let room = try session.makeScope(tag: room.id, kind: "room")
  /// try room.withScope(tag: "search") { try $0.require(Typing.self) }    // the room's
  /// ```
  ///
  /// - Parameter kind: A kind of scopes: the tag that they are made with, or their `kind`.
  public static func scope(_ kind: String) -> UDILifetime {
    UDILifetime(Kind("scope(\(quoted([kind])))", .scope, scopeKind: kind))
  }

  /// Returns whether both have the same name. A lifetime of your own never equals a built-in one.
  public static func == (left: UDILifetime, right: UDILifetime) -> Bool {
    left.kind === right.kind || left.kind.isBuiltIn == right.kind.isBuiltIn && left.name == right.name
  }

  /// Hashes the name, and whether the lifetime is built in.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind.isBuiltIn)
    hasher.combine(name)
  }

  /// The name.
  public var description: String { name }
}

/// Keeps the instance of one provider, for one set of arguments, under a lifetime of your own.
///
/// ```swift
/// /// Keeps an instance for some time.
/// final class Expiring: UDIStorage {
///   private typealias Kept = (made: UDIMade, until: ContinuousClock.Instant)
///   private let kept = Mutex<Kept?>(nil)
///   func load() -> UDIMade? { kept.withLock { $0.flatMap { .now < $0.until ? $0.made : nil } } }
///   func store(_ made: UDIMade) { replace(with: (made, .now + .seconds(60))) }
///   func reset() { replace(with: nil) }
///   private func replace(with new: Kept?) {
///     // The old instance is released after the lock: its `deinit` may use this storage.
///     let old = kept.withLock { kept in
///       defer { kept = new }
///       return kept
///     }
///     withExtendedLifetime(old) {}
///   }
/// }
/// let fleeting = UDILifetime("fleeting", storage: .custom { Expiring() })
/// ```
///
/// The library calls a storage on any thread, while it holds none of its own locks. Whatever the storage returns, the
/// library does not make two instances at once, and never uses an instance that was stored before a reset or by another
/// provider. After a reset, however, a new instance can be made while the factory still makes one that was begun before
/// the reset. The storage does not keep that one.
///
/// A storage may let go of an instance at any time, so the context does not own what is in it, and does not close it:
/// calling `onClose` on such a registration stops the program.
public protocol UDIStorage: AnyObject, Sendable {
  /// Returns the instance that is kept.
  ///
  /// Called when the dependency is looked up. If there are many sets of arguments, also called from time to time, to
  /// find storages that are empty and can be discarded.
  ///
  /// - Returns: The instance; nil if none is kept, so that a new one has to be made.
  func load() -> UDIMade?

  /// Keeps a new instance, or decides not to keep it.
  ///
  /// - Parameter made: The new instance.
  func store(_ made: UDIMade)

  /// Releases the instance, because the context was reset or the provider was removed. For one such event, this method
  /// may be called more than once, and while another thread is in ``store(_:)``. Other threads that want an instance
  /// wait until this method has returned.
  func reset()
}

/// An instance for a ``UDIStorage`` to keep. As long as this value exists, it keeps the instance alive.
public struct UDIMade: Sendable {
  /// A storage may release it on any thread; an instance that is not `Sendable` is then released on the main actor.
  private let owned: OwnedInstance
  /// Identifies the provider and the arguments that the instance was made for, and the period between two resets in
  /// which it was made: see `CustomStorage`.
  let generation: UInt

  init(instance: Instance, _ reach: UDIReach, generation: UInt) {
    owned = OwnedInstance(instance, reach)
    self.generation = generation
  }

  var instance: Instance { owned.value }
  /// The instance, for leak traces.
  package var object: AnyObject { owned.value.object }

  /// Identifies the instance. Audits use this instead of `object`, because only `owned` can be released on any thread.
  package var objectID: ObjectIdentifier { withExtendedLifetime(owned) { ObjectIdentifier(owned.value.object) } }
}
