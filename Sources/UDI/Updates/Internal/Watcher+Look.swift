/// The look: the lookup that a watcher repeats.
extension Watcher {
  /// Looks up the dependency. If only another actor can make it, has it made there.
  ///
  /// - Parameter isKeptOnly: Whether to look only at existing instances. If so, a provider is asked only if it is new
  ///   to the watcher.
  /// - Returns: The dependency, or nil if there is none, and its box, if it is a value that a provider keeps. An outer
  ///   nil if `isKeptOnly` is true and the entry that was found is not new.
  nonisolated(nonsending) func look(
    from context: UDIContext, keptOnly isKeptOnly: Bool
  ) async -> (Instance?, box: AnyObject?)? {
    let (found, entry) = isKeptOnly ? context.present(request) : looking { context.present(request) }
    guard let entry else {
      noteProviders(from: context, isKeptOnly: isKeptOnly)
      return (found, nil)
    }
    if entry.registered.isRefused(to: request.reach) { return (nil, nil) }
    if isKeptOnly, !isNew(entry) { return nil }
    let make = { @Sendable in try self.looking { try context.instance(of: entry, self.request) } }
    let made = if let actor = entry.actorToMakeOn { try? await AsyncCreation.visit(actor, make) } else { try? make() }
    return Tree.change { _ in
      lastKnownProvider = unsafe Tree.providerCount
      let box = (entry as? Provider)?.shown?.owned ?? (entry as? InstanceEntry)?.owned
      return (made?.value, box)
    }
  }

  /// Runs a part of a look that can change the tree. For the watcher itself, these changes count only as `.keptOnly`,
  /// and the entries that are added are marked; see `ChangeKind`.
  private func looking<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = currentThread()
    Tree.change { _ in looker = thread }
    defer { Tree.change { _ in looker = 0 } }
    return try Resolution.current.object.looking(true, body)
  }

  /// Whether even a look that makes no instance should ask this entry: a provider if the last look found nothing, or if
  /// the provider is new and was not registered during a look; a box if it is not the last one.
  private func isNew(_ entry: Entry) -> Bool {
    if let instance = entry as? InstanceEntry { return instance.owned !== last }
    guard let provider = entry as? Provider, let lastKnownProvider else { return true }
    return !provider.comesFromLook && provider.id > lastKnownProvider
  }

  /// Records which providers may have made an answer that was found without asking one.
  ///
  /// - Parameter isKeptOnly: Whether the look makes no instance. If such a look finds an object that was bound during a
  ///   look, it cannot tell which provider made the object, so the last record is kept.
  private func noteProviders(from context: UDIContext, isKeptOnly: Bool) {
    context.change { node, garbage in
      guard let entry = node.nearestEntry(key.id, node.direction(of: request.search))?.object else {
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
  func isNew(_ found: Instance?, _ box: AnyObject?) -> Bool {
    let object = found.flatMap { $0.isBox ? nil : $0.object }
    defer {
      last = object ?? box
      wasNothing = found == nil
    }
    return found == nil ? !wasNothing : object == nil || object !== last
  }
}

extension Entry {
  /// The actor on which a provider has to make the instance. Nil if the provider may make it here, if only `obtain` can
  /// make it, or if the entry is no provider.
  fileprivate var actorToMakeOn: (any Actor)? {
    guard let provider = (self as? Alias)?.target ?? self as? Provider, !provider.isAsynchronous else { return nil }
    return provider.mayRunHere ? nil : provider.isolation.actor
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
