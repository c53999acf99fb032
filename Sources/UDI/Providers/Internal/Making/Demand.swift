import Synchronization

/// The request of an `obtain`, with everything that is passed on to the lookups of an initialiser's parameters.
///
/// `obtain` waits for other threads and tasks, for the actor that a factory belongs to, and for asynchronous factories.
/// It never blocks its thread, and a factory is called once for each instance that it makes. These are its steps:
///
/// 1. A dependency that is bound or kept is found as `require` finds it.
/// 2. Otherwise, the provider is found, which takes or makes the instance in the other steps (`Provider.obtain`).
/// 3. If another thread or task is making the instance, the task waits for it.
/// 4. If the factory is an initialiser that was registered with `using:`, its parameters are obtained, one after the
///    other, each by a demand like this one. If the provider keeps the instance, this happens in a separate task, for
///    which other tasks wait, but not threads (`InstanceKeeper.preparation`).
/// 5. The factory is called, on its actor. Its own lookups are like any others.
struct Demand: Sendable {
  /// The context that asks, or that the factory gets.
  let context: UDIContext
  let request: LookupRequest
  var arguments: KeptArguments?
  /// The graph that the parameters of one initialiser share.
  var graph = Graph()
  /// The warm-up that this demand is part of, if it is.
  var warmUp: WarmUp?
  /// The watcher whose look this demand is part of, if it is. A look calls no asynchronous factory.
  var watcher: Provider.Looker?

  /// Performs the lookup, and waits as long as necessary.
  ///
  /// - Returns: An instance of exactly the requested type.
  /// - Throws: `UDILinkError`, `CancellationError`, or what a factory throws.
  nonisolated(nonsending) func obtain() async throws -> Instance {
    do {
      while true {
        let (present, provider) = try find()
        if let present { return present }
        guard let provider else { throw ProviderFailure.nothing }
        if let made = try await obtain(from: provider) { return made }
      }
    } catch { throw context.explained(error, request) }
  }

  /// Does the same for exactly one entry, whatever a lookup would find.
  ///
  /// - Returns: Nil if the entry has left its context in the meantime.
  @inline(never)
  nonisolated(nonsending) func obtain(entry: Entry) async throws -> Instance? {
    do {
      try entry.reject(request.reach, nil)
      while let provider = entry as? Provider, Tree.change({ _ in provider.node != nil }) {
        if let made = try await obtain(from: provider) { return made }
      }
      return try entry.takeInstance(for: context, with: nil, isFresh: false).map { try exact($0, entry) }
    } catch { throw context.explained(error, request) }
  }

  /// Does the same for all dependencies of the type, whatever their names, one after the other.
  ///
  /// - Returns: The instances in search order. A bound one might not be of the requested type.
  nonisolated(nonsending) func obtainAll() async throws -> [Instance] {
    var all: [Instance] = []
    for (entry, object) in context.withNode({ $0.allDependencies(request) }).reversed() {
      if let object {
        all.append(Instance(object: object, form: .none, isBox: false))
      } else if (entry as? Provider)?.wanted == nil {
        let request = LookupRequest(
          request.type, request.reach, named: entry.key.name, search: request.search, at: request.site)
        do {
          if let made = try await Demand(context: context, request: request).obtain(entry: entry) { all.append(made) }
        } catch let missing as UDILinkError where missing.isAbsence {}
      }
    }
    return all
  }

  /// Has a provider take or make the instance: steps 3 to 5.
  ///
  /// - Returns: Nil if the provider has left its context in the meantime.
  nonisolated(nonsending) func obtain(from provider: Provider) async throws -> Instance? {
    let owner = provider.owns ? provider.owner(asking: context) : nil
    let wasEnding = owner?.change { node, _ in node.isEnding } ?? true
    guard let made = try await provider.obtain(self) else { return nil }
    // If the context has been closed while the instance was being made, the instance has been closed, too, or will be.
    if !wasEnding, let path = owner?.endingPath { throw ProviderFailure.closed(path) }
    // If the instance is not of the requested type, it is released here, on its own actor.
    return try withExtendedLifetime(made) { try exact(made.value, provider) }
  }

  /// Takes the first two steps: finds an instance that is there, or the provider to ask. Makes nothing. The steps are
  /// those of `UDIContext.complete`, but a provider is not asked here.
  @inline(never)
  func find() throws -> (present: Instance?, provider: Provider?) {
    let given = arguments?.arguments
    var (present, provider): (Instance?, Provider?)
    let found = try looking(isForFactory: true) {
      try Instance.written(as: request.type) { memory in
        var answer =
          given == nil ? context.attempt(request, into: memory) : context.attemptToMake(request, into: memory)
        while true {
          switch answer {
          case .written: return
          case .object(let object) where memory.write(object, as: request.type): return
          case .nothing, .object: throw ProviderFailure.nothing
          case .provided(let entry):
            try entry.reject(request.reach, given)
            provider = entry as? Provider
            // Nil if the entry has left its context in the meantime.
            if provider == nil, let instance = try entry.takeInstance(for: context, with: nil, isFresh: false) {
              present = try exact(instance, entry)
            }
            if provider != nil || present != nil { return }
          case .dead, .lookAgain, .notBegun: break
          }
          answer = context.locate(request, mustMake: given != nil, for: nil, into: memory)
        }
      }
    }
    return (present ?? found, provider)
  }

  /// An entry's instance as exactly the requested type.
  ///
  /// - Throws: `ProviderFailure.notConvertible`.
  private func exact(_ instance: Instance, _ entry: Entry) throws -> Instance {
    if entry.instanceType == request.type { return instance }
    func cast<Dependency>(_ type: Dependency.Type) -> Instance? { .wrapping(instance.value(as: type, isExact: false)) }
    guard let exact = _openExistential(request.type, do: cast) else {
      throw ProviderFailure.notConvertible(from: entry.instanceType ?? request.type)
    }
    return exact
  }

  /// The same demand for the context that a factory gets, and for the graph in which it runs.
  func `for`(_ owner: UDIContext, in graph: Graph) -> Demand {
    Demand(context: owner, request: request, arguments: arguments, graph: graph, warmUp: warmUp, watcher: watcher)
  }

  /// Runs code that can change the tree, as a part of the look, if this demand is part of one.
  ///
  /// - Parameter isForFactory: Whether this is a lookup on behalf of an initialiser.
  @inline(__always)
  func looking<Made>(isForFactory: Bool = false, _ body: () throws -> Made) throws -> Made {
    if let watcher { try watcher.looking(isForFactory: isForFactory, body) } else { try body() }
  }

  // MARK: - The parameters of an initialiser

  /// Obtains the parameters of an initialiser, one after the other.
  ///
  /// - Parameter actor: The main actor, if the parameters might not be `Sendable`.
  /// - Returns: The instances. Nil for a parameter whose type is an optional, if `leavesOptionalNil`.
  func parameters(
    _ types: [Any.Type], _ reach: UDIReach, on actor: isolated (any Actor)?
  ) async throws -> [OwnedInstance?] {
    var instances: [OwnedInstance?] = []
    let call = AsyncCall.current
    defer { call?.waitsForOptional.store(false, ordering: .relaxed) }
    for type in types {
      let wrapped = wrappedType(of: type)
      call?.waitsForOptional.store(wrapped != nil, ordering: .relaxed)
      let parameter = Demand(
        context: context, request: LookupRequest(wrapped ?? type, reach), graph: graph, warmUp: warmUp, watcher: watcher
      )
      do { instances.append(OwnedInstance(try await parameter.obtain(), reach)) } catch let missing as UDILinkError {
        guard wrapped != nil, missing.leavesOptionalNil else { throw missing.asked(asParameter: instances.count + 1) }
        instances.append(nil)
      }
    }
    return instances
  }
}
