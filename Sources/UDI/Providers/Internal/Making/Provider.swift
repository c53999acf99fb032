import Synchronization

/// A registered factory with a lifetime.
///
/// A context holds its providers strongly, by key. To the index, a provider is an entry like a binding: a lookup finds
/// the provider unless something else, such as a binding, takes precedence. If the provider keeps an instance by
/// itself, and not in a cache, the entry for that instance (`shown`) takes the provider's place in the slots, so that
/// lookups find the instance directly. When the instance is dropped, for example by a `reset`, the provider is put
/// back.
package class Provider: Entry, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock or are atomic.

  // The first two properties are small. Directly after the last property of `Entry`, they fill space that would
  // otherwise be padding.

  /// Whether `madeType` is exactly the type that is recorded for the key, and not a different type with the same name
  /// (`TypeToken.isExact`).
  let makesExactType: Bool
  @safe @exclusivity(unchecked) package private(set) final var sharing = UDILifetime.Sharing.unique
  /// The type that the provider is registered under, and that its instances have.
  let madeType: Any.Type
  /// The lifetime; nil means that none was named, and that the context has no default of its own. Constant once the
  /// provider has entered a context. The type is spelled `Optional`, because a property that is declared with a
  /// question mark would be initialised twice.
  @exclusivity(unchecked) private final var uncheckedLifetime: Optional<UDILifetime.Kind>
  private let fixedExtras: FixedExtras?
  /// Distinguishes this provider from all others. An address would not: a later provider could get the address of one
  /// that is gone. Set when the provider enters a context, and 0 before. So it stays 0 for an override, which is not in
  /// its context's table of providers.
  @safe @exclusivity(unchecked) package private(set) final var id: UInt = 0
  /// The entry for the instance that the provider keeps by itself, and not in a cache; nil if it keeps none. Slots that
  /// would refer to the provider refer to this entry instead. A `ScopeKeeper` keeps its instance without an entry.
  @safe @exclusivity(unchecked) final var shown: InstanceEntry?
  /// The creation that is under way of an instance that the provider will keep by itself, and not in a cache. Nil as
  /// soon as a reset has dropped the creation, because its instance will not be kept. Guarded by the tree lock.
  @exclusivity(unchecked) final var creation: Creation?
  /// The extras; nil before they are first needed.
  @safe @exclusivity(unchecked) private(set) final var extras: Extras?
  /// Whether the factory may run only on one actor. The answer is stored, so that a link that makes something need not
  /// access the actor. `onCreate` may change it.
  let hasActor: Atomic<Bool>
  /// Whether the provider has a closer. Read this under the tree lock.
  @safe @exclusivity(unchecked) final var hasCloser = false
  /// Whether the instance was passed to `provide`. The provider then never makes another one, and a reset does not drop
  /// it. Constant once the provider has entered a context.
  final var isOfProvided = false
  /// Whether each instance that is kept has an operation (`Closer.operation`). Read without a lock after the instance
  /// has been kept; `UDIRegistration.running` begins the operations of those that were kept before.
  let hasOperation = Atomic<Bool>(false)
  /// Whether there is a completion. For an instance that is kept, the flag is set and read under the tree lock, so that
  /// the instance is completed either by whoever keeps it or by `onCreate`. For all other instances, the flag is read
  /// without a lock.
  let completesInstances = Atomic<Bool>(false)
  final var hasCompletion: Bool { completesInstances.load(ordering: .relaxed) }
  /// Whether the provider was registered in a set-up block of its context, or of one above, so that another one may
  /// replace it without a report.
  @safe @exclusivity(unchecked) private(set) final var isOfSetUp = false
  /// Whether a look has reset the provider. Guarded by the tree lock.
  private final var isResetByLook = false
  /// Whether a look has registered or reset the provider. Each look might do that, so the instances that the provider
  /// makes then count as made in a look. Read this under the tree lock.
  final var makesInLooks: Bool { comesFromLook || isResetByLook }
  /// Whether there is a `lastFailure`. Unlike that property, this one can be read without a lock.
  let hasFailure = Atomic<Bool>(false)
  /// Whether the last failure was that the factory returned nil.
  let hasReturnedNil = Atomic<Bool>(false)
  /// Whether the last run of the factory failed, or an alias's last cast, apart from runs that were cancelled.
  final var hasFailed: Bool { hasFailure.load(ordering: .relaxed) }

  /// Properties that never change and that only a few providers need.
  private final class FixedExtras: Sendable {
    let replaces: Bool?
    let isolation: Isolation
    let wanted: (any AnyArgumentPack.Type)?

    init(replaces: Bool?, isolation: Isolation, wanted: (any AnyArgumentPack.Type)?) {
      (self.replaces, self.isolation, self.wanted) = (replaces, isolation, wanted)
    }

    /// Whether the factory's own actor is the one on which this code runs; nil if it has none.
    var isHere: Bool? { isolation.actor == nil ? nil : isolation.isHere }
  }

  /// Properties that can change and that only a few providers need. Guarded by the tree lock once the provider has
  /// entered a context. Accesses under it cannot overlap, so those that closing makes are not checked for that
  /// ("request-close" in `Benchmarks/instructions`).
  final class Extras {
    /// Nil if there was no failure, or if there has been an instance since.
    var lastFailure: FactoryFailure?
    @safe @exclusivity(unchecked) var caches: InstanceCaches?
    @safe @exclusivity(unchecked) var aliases: [Alias] = []
    @safe @exclusivity(unchecked) var closer: ProviderCloser?
    var completion: Completion?
    var metadata: (any Sendable)?
    /// The ids of the providers with whose help instances were made (`noteHelp`).
    @safe @exclusivity(unchecked) var helpers: [UInt] = []
    /// How long the factory took when it last made an instance while recording was on.
    var lastDuration: Duration?
    var scopeKey: ScopeKey?
    /// The task that obtains the parameters of an initialiser, while it does so (`InstanceKeeper.preparation`).
    var preparation: Creation?
    /// The instance that was passed to `provide`, if the context was not open, and the path of the context.
    var refused: (instance: OwnedInstance, path: [String])?
  }

  /// - Parameters:
  ///   - request: The factory's instances are of its type.
  ///   - isolation: Where the closures may be called.
  ///   - wanted: The types of the factory's arguments, if it takes any.
  @inline(__always)
  init(_ request: borrowing RegisterRequest, isolation: Isolation, wanted: (any AnyArgumentPack.Type)? = nil) {
    let token = TypeToken.inlined(request.type)
    madeType = request.type
    makesExactType = token.isExact
    unsafe uncheckedLifetime = request.lifetime
    hasActor = Atomic(isolation.actor != nil)
    fixedExtras =
      request.replaces == nil && wanted == nil && isolation.actor == nil
      ? nil : FixedExtras(replaces: request.replaces, isolation: isolation, wanted: wanted)
    super.init(
      .provider, .none, key: token.key(named: request.name), isExact: token.isExact, reach: request.reach,
      at: request.site)
  }

  /// Makes the keeper of a provider's instances for one scope. Call this under the tree lock.
  init(keepingFor original: __shared Provider) {
    makesExactType = original.makesExactType
    madeType = original.madeType
    unsafe uncheckedLifetime = unsafe original.uncheckedLifetime
    hasActor = Atomic(original.isIsolated)
    fixedExtras = original.fixedExtras
    super.init(
      .scoped, .none, key: original.scopeKey, isExact: original.makesExactType, reach: original.reach,
      at: original.site)
    if original.hasCloser { copyCloser(of: original) }
  }

  /// The instance that the provider keeps by itself, and not in a cache; nil if it keeps none, or if it has been
  /// released. Read this under the tree lock.
  var kept: Instance? { shown?.instance }

  /// Keeps an instance by itself. Called under the tree lock.
  func keep(_ instance: Instance, _ garbage: inout Garbage) {
    show(InstanceEntry(instance, self, isWeak: sharing == .weak), &garbage)
  }

  /// Forgets the instance that the provider keeps by itself. Called under the tree lock.
  func forgetKept(_ garbage: inout Garbage) { forget(shown, &garbage) }

  /// Notes that this provider's instance helps to make the one that this thread or task is making now, if the same
  /// context will own both. Once there has been an override, it makes no difference which context will own the new one.
  override func noteHelp() {
    guard node?.closesInOrder ?? true, let creation = Creation.present, creation.isInFactory else { return }
    guard let maker = creation.provider?.object, maker !== self else { return }
    if unsafe maker.node != node && !Tree.hasOverrides || maker.helpers.contains(helpID) { return }
    maker.ensureExtras().helpers.append(helpID)
  }

  /// The id by which `helpers` list this provider: its own or, for an override, which has none, its address.
  package final var helpID: UInt { id == 0 ? Unretained(self).address : id }

  /// The provider whose factory makes the instances that this one keeps or serves.
  package final var maker: Provider { (self as? Alias)?.target ?? (self as? ScopeKeeper)?.provider ?? self }

  /// Whether an asynchronous factory makes the instances.
  package final var isAsynchronous: Bool { maker is AsyncFactory }

  override final var metadata: (any Sendable)? { Tree.change { _ in extras?.metadata } }
  /// Whether the provider replaces an earlier registration under its key; nil if the call did not say, in which case it
  /// does.
  final var replaces: Bool? { fixedExtras?.replaces }
  /// Whether the factory may run only on one actor.
  final var isIsolated: Bool { hasActor.load(ordering: .relaxed) }
  /// Where the factory may run: on its own actor, or on that of `onCreate`. Do not read this under the tree lock.
  final var isolation: Isolation {
    if !isIsolated { return .anywhere }
    if let own = fixedExtras?.isolation, own.actor != nil { return own }
    return Tree.change { _ in extras?.completion }?.isolation ?? .anywhere
  }
  /// Whether the factory may run here.
  final var mayRunHere: Bool { !isIsolated || fixedExtras?.isHere ?? isolation.isHere }
  /// The types of the factory's arguments, if it takes any.
  final var wanted: (any AnyArgumentPack.Type)? { fixedExtras?.wanted }

  /// Returns an instance: a new one, or the one that is kept.
  ///
  /// - Parameter isFresh: Whether to make a new instance even if one is kept.
  /// - Returns: Nil if the provider has left its context in the meantime.
  func instance(for context: UDIContext, with arguments: Arguments?, isFresh: Bool) throws -> Instance? { nil }

  // An override (id 0) makes nothing, so its value is the answer even to a lookup that wants a new instance.
  override final func answer(insteadOf kept: InstanceEntry) -> LookupAnswer { .provided(id == 0 ? kept : self) }

  /// Forgets the instance that the provider keeps by itself, if it is kept weakly and has been released. The instance's
  /// attachment calls this (`UDIAttachment.weakKeeper`). A cache notices the release when it is next asked.
  override final func withdraw(_ garbage: inout Garbage) {
    if let shown, shown.owned == nil, shown.liveObject(&garbage) == nil { forget(shown, &garbage) }
  }

  /// Answers for a provider with the lifetime `.graph`. Most links in a graph find an instance that an earlier link has
  /// made. In this case, the method writes the instance without retaining the provider.
  override final func answerFromGraph(_ wanted: WantedType, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard wanted.isExact, makesExactType, !registered.isRefused(to: wanted.reach) else { return .provided(self) }
    return Resolution.current.read({ unsafe $0.writeShared(id, to: memory) }) ? .written : .provided(self)
  }

  /// The types of the parameters that are looked up for an initialiser; nil if it is not known what the factory looks
  /// up.
  ///
  /// - Parameter context: Any context. Nothing is looked up there.
  package func parameterTypes(in context: UDIContext) -> [Any.Type]? { nil }

  /// The reach with which the parameters of an initialiser are looked up; nil if the factory is none.
  var reachOfParameters: UDIReach? { nil }

  /// Takes or makes an instance for `obtain`: see `Demand`. The steps are those of `Factory.instance`, with three
  /// differences: tasks wait, an instance that others may want is made in a separate task, and the completion of an
  /// asynchronous factory is called before those that wait get the instance.
  ///
  /// - Returns: Nil if the provider has left its context in the meantime; the caller then repeats the lookup.
  /// - Throws: `ProviderFailure`, `CancellationError` if the current task is cancelled, or what the factory throws.
  nonisolated(nonsending) func obtain(_ demand: Demand) async throws -> OwnedInstance? {
    let key = try key(of: demand.arguments?.arguments)
    if keeps {
      if demand.watcher == nil { return try await shared(demand, key, in: nil) }
      let keeper = try demand.looking { try self.keeper(for: key, asking: demand.context) }
      if let present = keeper.present { return OwnedInstance(present, reach) }
    }
    if isAsynchronous, demand.watcher != nil { throw ProviderFailure.asynchronous(self) }
    if sharing == .unique { try Task.checkCancellation() }
    let present = AsyncCall.current?.graph?.unlessEnded
    let ofTask = present ?? Graph()
    defer { if present == nil { ofTask.end() } }
    if sharing == .graph, isAsynchronous { return try await shared(demand, key, in: ofTask) }
    guard let owner = owner(asking: demand.context) else { return nil }
    let call = try AsyncCall(self, for: owner, with: key, in: ofTask, beginning: nil, askedBy: .current)
    let count = demand.watcher?.notedNeeds
    let made = try await make(demand.for(owner, in: keeps ? Graph() : demand.graph), as: call, for: nil)
    if let count, owns { demand.watcher?.forgetNeeds(after: count) }
    return made
  }

  /// The keeper of an instance that a task makes, and the creation that ends with the instance.
  typealias Place = (keeper: InstanceKeeper, creation: AsyncCreation)

  /// Makes an instance as part of a call, when the parameters of an initialiser have been obtained.
  ///
  /// - Parameters:
  ///   - demand: The demand, with the context that the factory gets.
  ///   - call: The new call.
  ///   - place: The keeper and the creation; nil if only the caller gets the instance.
  /// - Returns: Nil if the provider or its keeper has been reset, replaced or removed while the parameters were
  ///   obtained.
  nonisolated(nonsending) func make(
    _ demand: Demand, with parameters: [OwnedInstance?], as call: AsyncCall, for place: Place?
  ) async throws -> OwnedInstance? { nil }

  /// The types of the factory's arguments; empty if it takes none.
  package final var argumentTypes: [Any.Type] { wanted?.types ?? [] }

  /// Whether each instance that is kept has an operation. An alias does not know: ask its `maker`.
  final var runsInstances: Bool { hasOperation.load(ordering: .relaxed) }
  final var lifetime: UDILifetime {
    unsafe uncheckedLifetime.map { UDILifetime($0) } ?? (wanted == nil ? .context : .unique)
  }
  /// The kind of scopes that own the provider's instances under the lifetime `.scope`; nil for any kind.
  package final var scopeKind: String? { unsafe uncheckedLifetime?.scopeKind }
  /// Whether the provider keeps its instances, so that later lookups find them.
  final var keeps: Bool { sharing != .unique && sharing != .graph }

  // MARK: - In a context. Under the tree lock, so accesses cannot overlap and are not checked

  /// Whether `shown` is set. Unlike reading `shown`, checking this counts no reference.
  package final var showsInstance: Bool { shown != nil }

  /// Whether there are extras. Unlike reading `extras`, checking this counts no reference.
  final var hasExtras: Bool { extras != nil }

  /// Returns the extras, after making them if there are none.
  @inline(never) final func ensureExtras() -> Extras {
    if let extras { return extras }
    let new = Extras()
    extras = new
    return new
  }

  /// Whether the provider has instance caches.
  final var hasCaches: Bool { extras?.caches?.isEmpty == false }

  /// The caches for instances that are made with arguments, or that a user's storage keeps.
  final var caches: InstanceCaches? { extras?.caches }

  /// The aliases under which lookups find the provider's instances, too.
  final var aliases: [Alias] { extras?.aliases ?? [] }

  /// The ids of the providers with whose help the provider's instances were made (`noteHelp`).
  package final var helpers: [UInt] { extras?.helpers ?? [] }

  /// The key of the keepers that scopes have for this provider.
  @inline(__always)
  final var scopeKey: ScopeKey {
    if let key = extras?.scopeKey { return key }
    let new = ScopeKey(key, id, scopeKind: scopeKind)
    ensureExtras().scopeKey = new
    return new
  }

  /// Gives the entry for an instance the properties that it has in common with the provider.
  final func adopt(_ entry: InstanceEntry) {
    entry.node = node
    entry.serial = serial
    entry.comesFromLook = entry.kind == .observed ? Tree.isLooking : makesInLooks
  }

  /// The entry that slots refer to for this provider: that of the instance that it keeps by itself, or else the
  /// provider.
  override final var current: Entry { shown ?? self }

  /// Keeps an instance, and drops the previous one, if there is one. Makes the slots refer to the instance instead of
  /// to the provider, unless they refer to a binding, which takes precedence.
  final func show(_ entry: InstanceEntry, _ garbage: inout Garbage) {
    if let shown { garbage.add(shown) }
    adopt(entry)
    // An alias's instance was made when its target's was.
    if maker !== self, let made = maker.shown { entry.comesFromLook = made.comesFromLook }
    shown = entry
    guard let node, node.treeLocked.bindings.entryCount == 0 || node.bindingInTable(key) == nil else { return }
    node.setEntry(entry, forKey: keyID, notifying: .keptOnly)
  }

  /// Forgets the entry for the instance that the provider keeps by itself, together with those of its aliases: slots
  /// refer to the provider again. Does nothing if the provider does not show this entry.
  override final func forget(_ entry: InstanceEntry?, _ garbage: inout Garbage) {
    guard let entry, entry === shown else { return }
    shown = nil
    for alias in aliases { alias.forget(alias.shown, &garbage) }
    // If the provider is synchronous, watchers need not be notified: there is still an answer, because the provider
    // makes a new instance when it is asked. An asynchronous provider has no answer until `obtain` makes one.
    let isDead = entry.owned == nil && entry.liveObject(&garbage) == nil
    let death = entry.comesFromLook ? ChangeKind.diedOfLook : .died
    node?.showProvided(key, notifying: isAsynchronous ? .answer : isDead ? death : .ignored)
    entry.node = nil
    garbage.add(entry)
    leaveIfIdle(&garbage)
  }

  /// Prepares the provider for the context that it is being registered in: gives it its numbers and, if none was named,
  /// its lifetime.
  final func enter(_ node: Node) {
    self.node = node
    unsafe Tree.providerCount += 1
    id = unsafe Tree.providerCount
    // The contexts above matter only while recording is on, so otherwise they are not asked.
    isOfSetUp = node.treeLocked.isBeingSetUp || isRecording && node.andAncestors.contains { $0.treeLocked.isBeingSetUp }
    serial = node.treeLocked.nextSerial
    node.treeLocked.nextSerial &+= 1
    if unsafe uncheckedLifetime == nil, wanted == nil { unsafe uncheckedLifetime = node.defaultLifetime?.kind }
    sharing = unsafe kind == .scoped ? .strong : uncheckedLifetime?.sharing ?? (wanted == nil ? .strong : .unique)
    if hasCloser || isAsynchronous { noteCloser(node) }
    if sharing == .graph, wanted == nil, self is Factory { kind = .graphProvider }
    comesFromLook = Tree.isLooking
    // The provider already keeps an instance if `provide` was given it. Then the instance's entry enters the context,
    // too.
    if let shown { adopt(shown) }
  }

  /// Drops all instances that the provider keeps: by itself, in its caches, and those that have yet to be closed (see
  /// `dropUnclosed`). An instance that is being made now still goes to those that wait for it, but the provider does
  /// not keep it.
  ///
  /// - Parameters:
  ///   - isReset: Whether the provider stays in its context.
  ///   - closesLater: Whether those that have yet to be closed are still closed with the context.
  package final func drop(isReset: Bool, closesLater: Bool = false, _ garbage: inout Garbage) {
    // A reset does not drop a provided instance.
    if isReset, isOfProvided { return }
    if isReset, Tree.isLooking { isResetByLook = true }
    // A keeper whose instance is still being made stays: if the scope is closed meanwhile, it closes that instance.
    let mayLeave = kind == .scoped && isAtRest
    defer { if mayLeave { leaveIfIdle(&garbage) } }
    if hasCloser, !closesLater { dropUnclosed(.max, &garbage) }
    if hasExtras { extras?.helpers = [] }
    InstanceKeeper(provider: self, cache: nil).dropKept(&garbage)
    guard let caches else { return }
    let all = caches.all
    // Caches that keep nothing must not hold their arguments. A cache with a user's storage stays, because whoever
    // wants a newer instance may have to wait until an older one has been stored.
    if sharing != .custom { for cache in all { caches.discard(cache, &garbage) } }
    for cache in all { InstanceKeeper(provider: self, cache: cache).dropKept(&garbage) }
  }
}
