import Synchronization

/// A registered factory with a lifetime.
///
/// A context holds its providers strongly, by key. To the index, a provider is an entry like a binding: a lookup finds
/// it unless something else takes precedence, such as a binding. An instance that the provider makes and keeps takes
/// the provider's place in the slots, so that the next lookup finds the instance directly; a `reset` puts the provider
/// back.
class Provider: Entry, @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock or atomic.

  // The small properties come first, directly after the last property of `Entry`: the figure "registered, bytes a type"
  // of `Benchmarks/cost` counts each word.

  /// Whether `madeType` is exactly the type that is recorded for the key, and not another type with the same name
  /// (`TypeToken.isExact`).
  let makesExactType: Bool
  @exclusivity(unchecked) private final var uncheckedSharing = UDILifetime.Sharing.unique
  @exclusivity(unchecked) private final var uncheckedIsQuick = false
  @exclusivity(unchecked) private final var uncheckedHasFailed = false
  /// The type of what it makes.
  let madeType: Any.Type
  /// The lifetime; nil for `.unique`. Constant once the provider has entered a context. Spelled `Optional`, because a
  /// property that is declared with a question mark would be initialised twice.
  @exclusivity(unchecked) private final var uncheckedLifetime: Optional<UDILifetime>
  private let options: Options?
  /// Distinguishes it from all other providers, including earlier and later ones, which could have the same address.
  /// Set when the provider enters a context.
  @exclusivity(unchecked) private final var uncheckedID: UInt = 0
  @exclusivity(unchecked) private final var uncheckedShown: InstanceEntry?
  @exclusivity(unchecked) private final var uncheckedCreation: SharedCreation?
  @exclusivity(unchecked) private final var uncheckedExtras: Extras?
  /// The class of what was made last, if that class takes no part in the tree.
  let plainClass = Atomic<PlainClass>(.none)
  /// Whether its factory may run only on one actor. Stored, so that a link does not touch the actor: otherwise the
  /// benchmark ".unique, above a direct call" would take longer, by a tenth of the benchmarks' floor.
  let isIsolated: Bool
  @exclusivity(unchecked) private final var uncheckedCompletes: Bool
  /// Whether there is something to call at the end of the outermost link.
  let hasCompletion: Bool
  /// Whether it is a `Factory` that takes no arguments. A lookup lets such a factory write the instance directly to the
  /// lookup's memory.
  let isSimpleFactory: Bool
  private let usesDefaultLifetime: Bool
  /// How the factory's last run ended.
  enum Outcome: UInt8, AtomicRepresentable {
    /// It made something, or has not run yet: there is no `lastFailure`.
    case made
    case threw
    case returnedNil
  }
  /// The outcome that goes with `lastFailure`. It can be read without a lock.
  let lastOutcome = Atomic<Outcome>(.made)

  /// What only a few providers are registered with.
  private final class Options: Sendable {
    let metadata: BindRequest.Metadata?
    let isolation: Isolation
    let wanted: (any AnyArgumentPack.Type)?

    init(_ metadata: BindRequest.Metadata?, _ isolation: Isolation, _ wanted: (any AnyArgumentPack.Type)?) {
      self.metadata = metadata
      self.isolation = isolation
      self.wanted = wanted
    }
  }

  /// What only a few providers get after they have been registered. Under the tree lock.
  private final class Extras {
    var lastFailure: FactoryFailure?
    var caches = InstanceCaches()
    var aliases: [Alias] = []
    var closer: Closer?
  }

  /// - Parameters:
  ///   - type: The type to register it under. This is also the type of what it makes.
  ///   - lifetime: The lifetime; nil for the context's default.
  ///   - reach: Where the instances may be used.
  ///   - isolation: Where the closures may be called.
  ///   - completes: Whether there is something to call at the end of the outermost link.
  ///   - wanted: The arguments of its factory, if it takes any.
  init(
    _ type: Any.Type, _ name: UDIName?, _ lifetime: UDILifetime?, _ metadata: BindRequest.Metadata?, _ site: CallSite,
    _ reach: Reach, _ isolation: Isolation, completes: Bool = false, wanted: (any AnyArgumentPack.Type)? = nil,
    isSimpleFactory: Bool = false
  ) {
    PerThread.prepare()
    let token = TypeToken.of(type)
    madeType = type
    makesExactType = token.isExact
    usesDefaultLifetime = lifetime == nil
    unsafe uncheckedLifetime = lifetime
    isIsolated = isolation.actor != nil
    unsafe uncheckedCompletes = completes
    hasCompletion = completes
    self.isSimpleFactory = isSimpleFactory
    options = metadata == nil && wanted == nil && !isIsolated ? nil : Options(metadata, isolation, wanted)
    super.init(
      .provider, without: .none, key: .of(token.identity, name), isExact: token.isExact, reach, site)
  }

  override final var metadata: (any Sendable)? { options?.metadata?.value }
  /// Where its factory may run.
  final var isolation: Isolation { options?.isolation ?? .anywhere }
  /// The arguments of its factory, if it takes any.
  final var wanted: (any AnyArgumentPack.Type)? { options?.wanted }

  override final func makes(_ type: Any.Type) -> Bool { madeType == type }

  /// The types of its factory's arguments.
  final var argumentTypes: [Any.Type] { wanted?.types ?? [] }
  final var argumentCount: Int { wanted?.count ?? 0 }

  /// Whether the fast path can make the instances (see `Entry.makeQuickly`): the lifetime is `.unique` or `.graph`, and
  /// there is no completion.
  final var isQuick: Bool { unsafe uncheckedIsQuick }
  /// Whether there is something to do with each new instance: there is a completion or a closer. Constant once the
  /// provider has entered a context.
  final var completes: Bool { unsafe uncheckedCompletes }
  final var id: UInt { unsafe uncheckedID }
  final var lifetime: UDILifetime { unsafe uncheckedLifetime ?? .unique }
  final var sharing: UDILifetime.Sharing { unsafe uncheckedSharing }

  /// Calls the factory, with arguments of any types, and wraps the instance that it makes.
  ///
  /// - Throws: What the factory throws; `ProviderFailure.arguments` if it wants other arguments.
  func make(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    preconditionFailure("every kind of provider makes in its own way")
  }

  /// Calls the completion, at the end of the outermost link.
  func complete(_ instance: Instance, _ context: UDIContext, _ arguments: Arguments?) {}

  /// Whether the provider keeps an instance, which it made without arguments, weakly rather than strongly. Under the
  /// tree lock.
  ///
  /// - Returns: Nil if the provider does not keep the instance, or no longer does.
  func keepsWeakly(_ instance: Instance, _ garbage: inout Garbage) -> Bool? {
    guard let shown, let present = shown.instance else { return nil }
    Schedule.reached(.loadedToLook)
    garbage.add(present.object, of: shown)
    return present.object === instance.object ? shown.owned == nil : nil
  }

  override func obtain(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    try instance(for: context, arguments, isFresh: isFresh)
  }

  /// The instance that an asynchronous factory is making without arguments, if it is to be kept. Under the tree lock.
  var asyncCreation: AsyncCreation? {
    get { nil }
    set {}
  }
}

extension Provider: CustomStringConvertible {
  final var description: String { key.description }
}

// MARK: - In a context. Under the tree lock, so accesses cannot overlap and are not checked

extension Provider {
  /// What slots show instead of the provider: the instance that it made without arguments and keeps.
  final var shown: InstanceEntry? {
    get { unsafe uncheckedShown }
    set { unsafe uncheckedShown = newValue }
  }

  /// Whether `shown` is set. Checking this does not count a reference, as reading `shown` does.
  final var hasMade: Bool { unsafe uncheckedShown != nil }

  /// The factory's last failure; nil if the factory has made something since.
  final var lastFailure: FactoryFailure? {
    get { unsafe uncheckedExtras?.lastFailure }
    set { if newValue != nil || hasExtras { extras.lastFailure = newValue } }
  }

  /// Whether it has extras.
  final var hasExtras: Bool { unsafe uncheckedExtras != nil }

  /// The extras; made when they are first needed.
  private final var extras: Extras {
    if let extras = unsafe uncheckedExtras { return extras }
    let new = Extras()
    unsafe uncheckedExtras = new
    return new
  }

  /// Whether it has ever failed to make an instance that it was to keep.
  final var hasEverFailed: Bool {
    get { unsafe uncheckedHasFailed }
    set { unsafe uncheckedHasFailed = newValue }
  }

  /// The instance that is being made without arguments, if it is to be kept.
  final var creation: SharedCreation? {
    get { unsafe uncheckedCreation }
    set { unsafe uncheckedCreation = newValue }
  }

  /// Whether there are caches.
  final var hasCaches: Bool { unsafe uncheckedExtras?.caches.isEmpty == false }

  /// The caches for instances that are made with arguments, or kept in a user's storage.
  final var caches: InstanceCaches {
    _read { yield extras.caches }
    _modify { yield &extras.caches }
  }

  /// The other types that its instances are served as.
  final var aliases: [Alias] {
    get { unsafe uncheckedExtras?.aliases ?? [] }
    set { if !newValue.isEmpty || hasExtras { extras.aliases = newValue } }
  }

  /// What closes its instances, if they have to be closed.
  final var closer: Closer? { unsafe uncheckedExtras?.closer }

  /// Sets what closes its instances, before the provider enters a context.
  final func close(with closer: Closer?) {
    guard let closer else { return }
    extras.closer = closer
    unsafe uncheckedCompletes = true
  }

  /// What its context answers with now: what the provider made and keeps, or else the provider itself.
  final var current: Entry { shown ?? self }

  /// Removes the aliases, and returns them.
  final func takeAliases() -> [Alias] {
    let taken = aliases
    aliases = []
    return taken
  }

  /// Enters a context.
  final func enter(_ node: Node) {
    self.node = node
    unsafe Tree.providerCount += 1
    unsafe uncheckedID = Tree.providerCount
    serial = node.treeLocked.nextSerial
    node.treeLocked.nextSerial &+= 1
    if usesDefaultLifetime, let standard = node.treeLocked.extras?.defaultLifetime {
      unsafe uncheckedLifetime = standard
    }
    if let chosen = unsafe uncheckedLifetime?.sharing { unsafe uncheckedSharing = chosen }
    unsafe uncheckedIsQuick = (sharing == .unique || sharing == .graph) && !completes
    if completes { noteCloser(node) }
    if sharing == .graph, isSimpleFactory { kind = .graphProvider }
    // If the provider already keeps an instance, the instance's entry enters the context as well.
    comesFromLook = Tree.isLooking
    if hasMade {
      shown?.node = node
      shown?.serial = serial
      shown?.comesFromLook = comesFromLook
    }
  }

  /// Leaves its context, which no longer refers to it, and drops everything it made.
  ///
  /// - Returns: The user's storages, to be reset once the lock has been given back.
  final func leave(_ garbage: inout Garbage) -> [DroppedStorage] {
    let storages = drop(isReset: false, &garbage)
    node = nil
    return storages
  }

  /// Drops everything that was made. What is being made now is still given to the threads that wait for it, but is not
  /// kept.
  ///
  /// - Parameter isReset: Whether the provider stays in its context.
  /// - Returns: The user's storages, to be reset once the lock has been given back.
  final func drop(isReset: Bool, _ garbage: inout Garbage) -> [DroppedStorage] {
    if let closer { dropUnclosed(closer, isReset: isReset, &garbage) }
    for alias in aliases { alias.forget(alias.shown, &garbage) }
    return dropInstances(&garbage)
  }

  /// Makes the slots show what was made, instead of the provider.
  final func show(_ entry: InstanceEntry) {
    entry.node = node
    entry.serial = serial
    entry.comesFromLook = comesFromLook
    shown = entry
    Tree.notifying(.keptOnly) { node?.show(entry) }
  }

  /// Makes the slots show the provider again, instead of what was made.
  final func forget(_ entry: InstanceEntry?, _ garbage: inout Garbage) {
    guard let entry, entry === shown else { return }
    shown = nil
    // A synchronous lookup makes the next instance when it asks for it; an asynchronous provider has nothing now.
    Tree.notifying(isAsynchronous ? .answer : .ignored) { node?.showProvided(key) }
    entry.node = nil
    garbage.add(entry)
    leaveIfEnding(&garbage)
  }
}
