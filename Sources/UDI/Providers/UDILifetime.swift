/// A lifetime: how long an instance is kept, and which lookups share it.
///
/// | lifetime | an instance is |
/// |---|---|
/// | ``context`` | made once, and owned by the context that its provider is registered in |
/// | ``scope``, ``scope(_:)`` | made once in each scope (of a kind) that asks, and owned by that scope |
/// | ``unique`` | made at every link |
/// | ``graph`` | shared within one outermost link and everything that is linked during it |
/// | ``weak`` | kept as long as something else holds it, then made anew |
///
/// A registration that names no lifetime has the ``UDIContext/defaultLifetime`` of its context, which is ``context``
/// unless another one was set. If its factory takes arguments, it has ``unique``.
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

  /// The place where a lifetime of your own keeps its instances.
  @nonexhaustive
  public enum Storage: Sendable {
    /// The context owns the instances until it is reset, closed or released.
    case strong
    /// Each instance is kept for as long as something else holds it.
    case weak
    /// Your own storage decides how instances are kept.
    ///
    /// The closure makes the storage for one provider and one set of arguments. At any time, the provider uses one
    /// storage for each set of arguments. The closure can be called again for the same set, for two reasons. If several
    /// threads need the storage at once, each might make one, of which only one is used. And a storage that was found
    /// empty may be discarded; a new one is made when the dependency is linked again.
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
  ///   - name: The lifetime's name. Two lifetimes of your own with the same name are equal, so ``UDIContext/reset(_:)``
  ///     does not distinguish them.
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

  /// A lifetime in which each link makes a new instance. The factory receives the context that asked.
  public static let unique = UDILifetime(Kind("unique", .unique))

  /// A lifetime in which an instance is shared within one outermost link, that is, by everything that is linked during
  /// it.
  ///
  /// There is one exception: while an instance that is kept under a different lifetime is being made, the links made
  /// for it share only among themselves.
  ///
  /// The instance can be a value. The factory receives the context that asked first. A lookup of the instance while it
  /// is being made is a cycle, whichever context asks.
  public static let graph = UDILifetime(Kind("graph", .graph))

  /// A lifetime in which an instance is kept as long as something else holds it.
  ///
  /// After that, the next link makes a new one.
  ///
  /// This lifetime is only for class instances. A value cannot be kept in this way: each link makes a new one, and
  /// reports a misuse. The factory receives the context that it is registered in.
  public static let weak = UDILifetime(Kind("weak", .weak))

  /// A lifetime in which an instance is made once, and owned by the context in which the provider is registered.
  ///
  /// The context owns it until the context is reset, closed or released. The factory receives this context.
  public static let context = UDILifetime(Kind("context", .strong))

  /// A lifetime in which an instance is made once in each scope, and owned by that scope.
  ///
  /// Register the provider once, in a context above all scopes, such as the root. A lookup returns the instance of the
  /// nearest scope around the context that asks, which may be that context itself. (See
  /// ``UDIContext/makeScope(tag:kind:search:)`` and ``UDIContext/withScope(tag:kind:search:operation:)``.) The scope
  /// makes the instance at the first lookup. The factory receives the scope, so the instance is made from the
  /// dependencies that the scope sees. The instance lasts until the scope is reset, closed or released. If nothing in a
  /// scope asks for the instance, the scope makes none.
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
  /// A lookup with no scope around it is a miss. A context outside the scopes can therefore own nothing that is made
  /// from a scope's instance, which might end first. A lookup is also a miss if its nearest scope is above the context
  /// in which the provider is registered: the instances of that scope would outlive that context.
  ///
  /// While a scope is being closed, and afterwards, it makes no instances. For the contexts below it, no outer scope
  /// replaces it.
  ///
  /// If the registration is replaced or taken back, lookups no longer find the instances that scopes have made with it.
  /// The scopes still own these instances, and close them.
  public static let scope = UDILifetime(Kind("scope", .scope))

  /// Returns a lifetime in which an instance is made once in each scope of a kind, and owned by that scope.
  ///
  /// It is like ``scope``, except that the nearest scope of the given kind makes and owns the instance, even if scopes
  /// of other kinds are nearer.
  ///
  /// ```swift
  /// root.register(Typing.self, lifetime: .scope("room")) { Typing() }
  /// let session = try root.makeScope(tag: "session")
  /// let room = try session.makeScope(tag: room.id, kind: "room")
  /// try room.withScope(tag: "search") { try $0.require(Typing.self) }    // the room's
  /// ```
  ///
  /// - Parameter kind: The kind of the scopes: the tag that they are made with, or their `kind`.
  public static func scope(_ kind: String) -> UDILifetime {
    UDILifetime(Kind("scope(\(quoted([kind])))", .scope, scopeKind: kind))
  }

  /// Returns whether both lifetimes have the same name. A lifetime of your own never equals a built-in one.
  public static func == (left: UDILifetime, right: UDILifetime) -> Bool {
    left.kind === right.kind || left.kind.isBuiltIn == right.kind.isBuiltIn && left.name == right.name
  }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// The name.
  public var description: String { name }
}

/// A storage that keeps the instance of one provider, for one set of arguments, under a lifetime of your own.
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
/// The library can call a storage on any thread. It then holds none of its own locks. Whatever the storage returns, the
/// library does not make two instances at once, and never uses an instance that was stored before a reset or by another
/// provider. After a reset, however, a new instance can be made while the factory is still making one that it began
/// before the reset. The storage does not keep the older one.
///
/// A storage may release an instance at any time, so the context does not own its instances, and does not close them.
/// Calling `onClose` on such a registration stops the program. To test a storage, use `expectStorageWorks` of
/// `UDITesting`.
public protocol UDIStorage: AnyObject, Sendable {
  /// Returns the instance that the storage keeps.
  ///
  /// The library calls this method when the dependency is looked up. If there are many sets of arguments, it also calls
  /// the method from time to time, to find storages that are empty and can be discarded.
  ///
  /// - Returns: The instance; nil if none is kept, so that a new one has to be made.
  func load() -> UDIMade?

  /// Keeps a new instance, or decides not to keep it.
  ///
  /// - Parameter made: The new instance.
  func store(_ made: UDIMade)

  /// Releases the instance, because the context was reset or the provider was removed.
  ///
  /// For one such event, this method may be called more than once, and while another thread is in ``store(_:)``. Other
  /// threads that want an instance wait until this method has returned.
  func reset()
}

/// An instance for a ``UDIStorage`` to keep. As long as this value exists, it keeps the instance alive.
public struct UDIMade: Sendable {
  /// A storage may release it on any thread; an instance that is not `Sendable` is then released on the main actor.
  let owned: OwnedInstance
  /// Identifies the provider and the arguments that the instance was made for, and the period between two resets in
  /// which it was made: see `CustomStorage`.
  let generation: UInt

  var instance: Instance { owned.value }

  /// The instance, for leak traces.
  package var object: AnyObject { owned.value.object }

  /// Identifies the instance. Audits use this instead of `object`, because only `owned` can be released on any thread.
  package var objectID: ObjectIdentifier { withExtendedLifetime(owned) { ObjectIdentifier(owned.value.object) } }
}

extension UDIMade {
  /// Wraps an object, for a test of a storage.
  package init(_ object: some AnyObject & Sendable) {
    self.init(owned: OwnedInstance(Instance(object), .anywhere), generation: 0)
  }
}
