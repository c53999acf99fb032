/// The look: the lookup that a watcher repeats.
extension Watcher {
  /// A dependency that a look has found, and its entry: the provider, if one was asked for the instance. The form of
  /// the instance is complete only if it is that of the requested type.
  typealias Found = (entry: Entry, instance: Instance)

  /// Looks up the dependency, or all dependencies. An instance that only another actor can make is made there.
  ///
  /// - Parameter isKeptOnly: Whether to look only at existing instances. If so, a provider is asked only if it is new
  ///   to the watcher.
  /// - Returns: The dependencies. Nil if they cannot be known before the next change: `isKeptOnly` is true, but a
  ///   provider that is not new would have to be asked; or the only provider has left its context before it was asked.
  nonisolated(nonsending) func look(from context: UDIContext, keptOnly isKeptOnly: Bool) async -> [Found]? {
    func collect() -> ContiguousArray<LoadedEntry> {
      context.withNode { $0.allDependencies(request, onlyFirst: !findsAll) }
    }
    let wanted = WantedType(.of(request.type), request.reach)
    if !isKeptOnly { (_, failure) = (beginLook(), nil) }
    var rest = isKeptOnly ? collect() : looking(collect)
    var found: [Found] = []
    var known: UInt?
    while let (entry, object) = rest.popLast() {
      var instance = object.map {
        Instance(object: $0, form: entry.registered.fits(wanted) ? entry.form : .none, isBox: false)
      }
      // The least value that `lastKnownProvider` may have because of this entry; `max` for the newest of all providers.
      var newest: UInt? = .max
      let provider = entry as? Provider
      if let provider, !isKeptOnly || isNew(provider) {
        do { instance = try await self.instance(of: provider, in: context) } catch {
          if case ProviderFailure.nothing = error, !findsAll { return nil }
          failure = error is UDILinkError ? error : nil
          if Task.isCancelled { return nil }
        }
      } else if let provider {
        // The instance that the provider made for the last answer is part of this one, too, as long as it is alive.
        // That is so even if the provider has failed since, because the failed run may have been for somebody else.
        let before = last?.first { $0.provider == provider.id }
        instance = before?.instance()
        if instance == nil, before != nil || !provider.hasFailed { return nil }
        newest = lastKnownProvider
      } else if entry.kind == .binding {
        // A look that makes nothing cannot tell which provider has made an object that was bound during a look.
        newest = !entry.comesFromLook ? 0 : isKeptOnly ? lastKnownProvider : .max
      } else if instance == nil {
        instance = (entry as? InstanceEntry)?.instance
      }
      if let newest { known = max(known ?? 0, newest) }
      if let instance { found.append((entry, instance)) }
    }
    Tree.change { garbage in
      lastKnownProvider = known.map { unsafe min($0, Tree.providerCount) }
      if !isKeptOnly { dropNeeds(from: needs.count, &garbage) }
      noteFindings(isKeptOnly: isKeptOnly, &garbage)
    }
    return found
  }

  /// Performs the first lookup on behalf of the consumer, which gets the answer. The caller has set `change` to nil, so
  /// that `next` waits for a change.
  func begin<Dependency>(_ lookUp: () -> Dependency?) -> Dependency? {
    beginLook()
    let found = looking(isWhole: true, lookUp)
    begin(with: .wrapping(found))
    return found
  }

  private func begin(with found: Instance?) {
    let entry = context?.withNode { $0.allDependencies(request, onlyFirst: true) }.last?.entry
    guard let found, let entry else { return _ = isNew([]) }
    // A value has been copied out of the box that is kept.
    let kept = found.isBox ? (entry as? InstanceEntry)?.instance : nil
    _ = isNew([(entry, kept ?? found)])
    let isBound = entry.kind == .binding && !entry.comesFromLook
    Tree.change { _ in lastKnownProvider = isBound ? 0 : unsafe Tree.providerCount }
  }

  /// Has a provider give its instance, on the actor where that has to be made.
  ///
  /// - Throws: `ProviderFailure.nothing` if the provider has left its context; any other error if there is no instance.
  nonisolated(nonsending) private func instance(of provider: Provider, in context: UDIContext) async throws -> Instance
  {
    let demand = Demand(context: context, request: request, watcher: self)
    do {
      guard let made = try await provider.obtain(demand) else { throw ProviderFailure.nothing }
      if made.value.isBox || provider.instanceType == request.type { return made.value }
      return Instance(object: made.value.object, form: .none, isBox: false)
    } catch {
      if !Task.isCancelled { looking { context.report(error, from: provider, request) } }
      throw error
    }
  }

  /// Whether even a look that makes no instance should ask this provider: if the last look found nothing, if the
  /// provider is new and was not registered during a look, or if only `obtain` makes its instance.
  private func isNew(_ provider: Provider) -> Bool {
    guard let lastKnownProvider, !provider.isAsynchronous else { return true }
    return !provider.comesFromLook && provider.id > lastKnownProvider
  }

  /// Whether an answer differs from the last one. After that, the answer counts as the last one. A value that no
  /// provider keeps always counts as different, because values cannot be compared: only one that is kept is in the same
  /// box each time.
  func isNew(_ found: [Found]) -> Bool {
    defer { last = found.map { ($0.entry.name, ($0.entry as? Provider)?.id ?? 0, $0.instance.weakly) } }
    guard let last, last.count == found.count else { return true }
    return !zip(last, found).allSatisfy { $0.name == $1.entry.name && $0.instance()?.object === $1.instance.object }
  }

  /// The first dependency of an answer.
  static func first<Dependency>(_ found: [Found]) -> Dependency? {
    found.first?.instance.value(as: Dependency.self, isExact: true)
  }

  /// All dependencies of an answer, with their names.
  static func all<Dependency>(_ found: [Found]) -> [(name: UDIName?, dependency: Dependency)] {
    found.compactMap { found in found.instance.value(as: Dependency.self).map { (found.entry.name, $0) } }
  }
}
