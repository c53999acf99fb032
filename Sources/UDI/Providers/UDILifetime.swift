/// How long an instance that a provider made is kept, and who shares it.
///
/// | lifetime | an instance is |
/// |---|---|
/// | ``unique`` | made at every link |
/// | ``graph`` | shared within one outermost link and everything that is linked during it |
/// | ``weak`` | kept as long as somebody outside holds it, then made anew |
/// | ``context`` | made once, and owned by the context that its provider is registered in |
///
/// A lifetime of your own has a name, by which ``UDIContext/reset(_:)`` knows it, and a storage:
///
/// ```swift
/// extension UDILifetime {
///   static let session = UDILifetime("session")
/// }
/// context.register((any Cart).self, lifetime: .session) { Basket() }
/// context.reset(.session)    // the next link makes another basket
/// ```
public struct UDILifetime: Sendable {
  /// How the library goes about it.
  enum Sharing: UInt8, Sendable {
    case unique, graph, weak, strong, custom
  }

  /// What keeps the instances of a lifetime of your own.
  @nonexhaustive
  public enum Storage: Sendable {
    /// They are owned by the context, until it is reset or goes away.
    case strong
    /// They are kept as long as somebody outside holds them.
    case weak
    /// They are kept as the storage decides that the closure makes: one for each provider and set of arguments.
    case custom(@Sendable () -> any UDIStorage)
  }

  /// Behind a reference, so that each provider can have its lifetime at the cost of a pointer.
  private final class Kind: Sendable {
    let name: String
    let sharing: Sharing
    let makeStorage: (@Sendable () -> any UDIStorage)?
    let isBuiltIn: Bool

    init(_ name: String, _ sharing: Sharing, _ makeStorage: (@Sendable () -> any UDIStorage)? = nil, isBuiltIn: Bool) {
      self.name = name
      self.sharing = sharing
      self.makeStorage = makeStorage
      self.isBuiltIn = isBuiltIn
    }
  }

  private let kind: Kind

  private init(builtIn name: String, _ sharing: Sharing) { kind = Kind(name, sharing, isBuiltIn: true) }

  /// Makes a lifetime of your own.
  ///
  /// - Parameters:
  ///   - name: Names it; two lifetimes of the same name are the same to ``UDIContext/reset(_:)``.
  ///   - storage: What keeps the instances.
  public init(_ name: String, storage: Storage = .strong) {
    kind =
      switch storage {
      case .strong: Kind(name, .strong, isBuiltIn: false)
      case .weak: Kind(name, .weak, isBuiltIn: false)
      case .custom(let make): Kind(name, .custom, make, isBuiltIn: false)
      }
  }

  /// The lifetime's name, as messages and snapshots have it.
  public var name: String { kind.name }
  var sharing: Sharing { kind.sharing }
  var makeStorage: (@Sendable () -> any UDIStorage)? { kind.makeStorage }

  /// An instance is made at every link. The factory gets the context that asked.
  public static let unique = UDILifetime(builtIn: "unique", .unique)

  /// An instance is shared within one outermost link and everything that is linked during it, values included; but what is made to be kept,
  /// under another lifetime, shares only with its own parts. The factory gets the context that asked first; to ask for the instance while it is being made is a cycle, in whichever context.
  public static let graph = UDILifetime(builtIn: "graph", .graph)

  /// An instance is kept as long as somebody outside holds it, and then made anew. Only for classes: a value is made at every
  /// link, and that is reported as misuse. The factory gets the context that it was registered in.
  public static let weak = UDILifetime(builtIn: "weak", .weak)

  /// An instance is made once, and owned by the context that the provider is registered in, until that is reset or goes away.
  /// The factory gets this context.
  public static let context = UDILifetime(builtIn: "context", .strong)
}

extension UDILifetime: Hashable {
  /// Whether both have the same name; a lifetime of your own is never one of the four.
  public static func == (left: UDILifetime, right: UDILifetime) -> Bool {
    left.kind === right.kind || left.kind.isBuiltIn == right.kind.isBuiltIn && left.name == right.name
  }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind.isBuiltIn)
    hasher.combine(name)
  }
}

extension UDILifetime: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}

/// What keeps the instance of one provider, for one set of arguments, under a lifetime of your own.
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
/// It is called from any thread, with no lock of the library held. Whatever it answers, no two instances are made at once, and what was
/// stored before a reset, or by another provider, is given to nobody.
public protocol UDIStorage: AnyObject, Sendable {
  /// The instance that is kept.
  ///
  /// Asked when somebody links, and now and then where there are many sets of arguments, to forget those that nothing is kept for.
  ///
  /// - Returns: Nil where there is none, or none any more: then one is made.
  func load() -> UDIMade?

  /// Keeps an instance that was just made, or not.
  ///
  /// - Parameter made: The instance.
  func store(_ made: UDIMade)

  /// Lets go of the instance: the context was reset, or the provider went. May be called more than once for that, and while another
  /// thread is in ``store(_:)``. Other threads that want an instance wait until it has returned.
  func reset()
}

/// An instance that a provider made, for a ``UDIStorage`` to keep: holding it holds the instance.
public struct UDIMade: Sendable {
  private let reference: Reference
  /// Says for which provider and arguments it was made, and between which resets of those: see `CustomStorage`.
  let generation: UInt

  init(instance: Instance, _ reach: Reach, generation: UInt) {
    reference = Reference(instance, reach)
    self.generation = generation
  }

  var instance: Instance { reference.instance }

  /// Tells the instance from others. It is not handed out: `reference` alone may let go of it on any thread.
  var objectID: ObjectIdentifier { withExtendedLifetime(reference) { ObjectIdentifier(reference.instance.object) } }

  /// Holds the instance. A storage may let go of it on any thread; one that is not `Sendable` is given back to the main actor.
  private final class Reference: Sendable, CustomReflectable {
    // Written in `init` and `deinit` alone.
    private nonisolated(unsafe) var content: Instance?
    private let reach: Reach

    init(_ instance: Instance, _ reach: Reach) {
      unsafe content = instance
      self.reach = reach
    }

    var instance: Instance { unsafe content.unsafelyUnwrapped }

    /// Nothing: a mirror can be made anywhere.
    var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }

    deinit {
      if reach == .mainActor { unsafe releaseOnMainActor(content.take() as Any) }
    }
  }
}
