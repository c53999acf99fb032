/// Waits for changes on behalf of `updates(of:)` or `linkWhenAvailable`, and repeats the lookup after each change. All
/// copies of an iterator use the same consumer. It knows no types, so it is compiled once.
final class Consumer {
  private let watcher: Watcher
  /// The context where lookups begin. The reference is weak, so that waiting for updates keeps no context alive.
  private weak let context: UDIContext?
  /// What to look up.
  private let request: LookupRequest
  /// The object of the last result, or the box of a value that a provider keeps, if it has not been released. Each
  /// value has its own box.
  private weak var last: AnyObject?
  /// Whether the last result was that there is no dependency.
  private var wasNothing = false
  /// The id of the newest of all providers when the last answer was found: providers with greater ids came later. 0 if
  /// user code had bound the answer; nil if the lookup found nothing.
  private var lastKnownProvider: UInt?

  /// - Parameter context: The context where lookups begin. If it is nil, the consumer ends at once.
  init(_ context: UDIContext?, _ request: LookupRequest) {
    Resolution.prepare()
    watcher = Watcher(TypeToken.of(request.type).key(named: request.name), request.search)
    self.context = context
    self.request = request
    if let context {
      context.change { node, _ in node.enter(watcher) }
    } else {
      Tree.change { _ in watcher.notify(of: .end) }
    }
  }

  deinit { Tree.change { _ in watcher.leave() } }

  /// Ends the waiting after some time; `next` then returns nil.
  ///
  /// - Returns: The task that measures the time.
  func expire(after limit: Duration, _ clock: any Clock<Duration>) -> Task<Void, Never> {
    Task { [watcher] in
      if limit > .zero { try? await clock.sleep(for: limit) }
      Tree.change { _ in watcher.expire() }
    }
  }

  /// Waits until a lookup gives a different answer from the last one. The first call returns at once.
  ///
  /// - Parameter type: The type that is looked up, or a superclass of it.
  /// - Returns: The dependency. An inner nil if there is none; an outer nil if the context is gone or closed, if the
  ///   task is cancelled, or if the time given to `expire` is over.
  nonisolated(nonsending) func next<Dependency>(as type: Dependency.Type) async -> Dependency?? {
    guard let found = await next() else { return nil }
    return .some(found?.value(as: type, isExact: type == request.type))
  }

  nonisolated(nonsending) private func next() async -> Instance?? {
    while let change = await watcher.nextChange(), let context {
      // After the change, the lookup might pass through other contexts than before, so the watcher is entered anew. If
      // it were entered after the lookup, a change in between would be missed.
      context.change { node, _ in node.enter(watcher) }
      let found = await look(from: context, keptOnly: change == .keptOnly)
      Schedule.reached(.hasLooked)
      if let (instance, box) = found, isNew(instance, box) { return .some(instance) }
    }
    return nil
  }

  /// Looks up the dependency on behalf of the watcher. If only another actor can make it, has it made there.
  ///
  /// - Parameter isKeptOnly: Whether to look only at existing instances. If so, a provider is asked only if it is new
  ///   to the watcher.
  /// - Returns: The dependency, or nil if there is none, and its box, if it is a value that a provider keeps. An outer
  ///   nil if `isKeptOnly` is true and the entry that was found is not new.
  nonisolated(nonsending) private func look(
    from context: UDIContext, keptOnly isKeptOnly: Bool
  ) async -> (Instance?, box: AnyObject?)? {
    let (found, entry) =
      isKeptOnly ? context.present(request) : watcher.looking { [request] in context.present(request) }
    guard let entry else {
      noteProviders(from: context, isKeptOnly: isKeptOnly)
      return (found, nil)
    }
    if entry.registered.isRefused(to: request.reach) { return (nil, nil) }
    if isKeptOnly, !isNew(entry) { return nil }
    let (watcher, request) = (watcher, request)
    let make = { @Sendable in try watcher.looking { try context.instance(of: entry, request) } }
    let made = if let actor = entry.actorToMakeOn { try? await AsyncCreation.visit(actor, make) } else { try? make() }
    return Tree.change { _ in
      lastKnownProvider = unsafe Tree.providerCount
      let box = (entry as? Provider)?.shown?.owned ?? (entry as? InstanceEntry)?.owned
      return (made?.value, box)
    }
  }

  /// Whether even a lookup that makes no instance should ask this entry: a provider if the last lookup found nothing,
  /// or if the provider is new and was not registered during a watcher's lookup; a box if it is not the last one.
  private func isNew(_ entry: Entry) -> Bool {
    if let instance = entry as? InstanceEntry { return instance.owned !== last }
    guard let provider = entry as? Provider, let lastKnownProvider else { return true }
    return !provider.comesFromLook && provider.id > lastKnownProvider
  }

  /// Records which providers may have made an answer that was found without asking one.
  ///
  /// - Parameter isKeptOnly: Whether the lookup makes no instance. If such a lookup finds an object that was bound
  ///   during a watcher's lookup, it cannot tell which provider made the object, so the last record is kept.
  private func noteProviders(from context: UDIContext, isKeptOnly: Bool) {
    context.change { node, garbage in
      guard let entry = node.nearestEntry(watcher.key.id, node.direction(of: request.search))?.object else {
        return lastKnownProvider = nil
      }
      garbage.add(entry)
      if entry.kind == .binding, !entry.comesFromLook {
        lastKnownProvider = 0
      } else if entry.kind != .binding || !isKeptOnly {
        lastKnownProvider = unsafe Tree.providerCount
      }
    }
  }

  /// Whether an answer differs from the last one. After that, the answer counts as the last one. A value always counts
  /// as different, because values cannot be compared.
  private func isNew(_ found: Instance?, _ box: AnyObject?) -> Bool {
    let object = found.flatMap { $0.isBox ? nil : $0.object }
    defer {
      last = object ?? box
      wasNothing = found == nil
    }
    return found == nil ? !wasNothing : object == nil || object !== last
  }
}

extension Watcher {
  /// Runs a part of a lookup that can change the tree. For the watcher itself, these changes count only as `.keptOnly`,
  /// and the entries that are added are marked; see `ChangeKind`.
  fileprivate func looking<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = currentThread()
    Tree.change { _ in looker = thread }
    defer { Tree.change { _ in looker = 0 } }
    return try Resolution.current.object.looking(true, body)
  }
}

extension Entry {
  /// The actor on which a provider has to make the instance. Nil if the provider may make it here, if only `obtain` can
  /// make it, or if the entry is no provider.
  fileprivate var actorToMakeOn: (any Actor)? {
    guard let provider = (self as? Alias)?.target ?? self as? Provider, !provider.isAsynchronous,
      !provider.isolation.isHere
    else {
      return nil
    }
    return provider.isolation.actor
  }
}

extension UDIContext {
  /// Looks something up, without making it.
  ///
  /// - Returns: What there is, or else the entry that a lookup would ask for the instance.
  fileprivate func present(_ request: LookupRequest) -> (Instance?, Entry?) {
    func find<Dependency>(_ type: Dependency.Type) -> (Instance?, Entry?) {
      var found: Dependency?
      let answer = unsafe withUnsafeMutablePointer(to: &found) {
        unsafe self.answer(request, into: InstanceMemory($0))
      }
      switch answer {
      case .provided(let entry): return (nil, entry)
      case .object(let object): found = object as? Dependency
      case .written, .nothing, .undecided: break
      }
      return (found.map { Instance($0) }, nil)
    }
    return _openExistential(request.type, do: find)
  }

  /// The instance of an entry that a lookup has found. If it cannot be made, reports why.
  fileprivate func instance(of entry: Entry, _ request: LookupRequest) throws -> OwnedInstance {
    func make<Dependency>(_ type: Dependency.Type) -> Instance? {
      (self.make(entry, request) as Dependency?).map { Instance($0) }
    }
    guard let made = _openExistential(request.type, do: make) else { throw ProviderFailure.nothing }
    return OwnedInstance(made, request.reach)
  }
}
