/// A lookup for `obtain`, which can wait for the actor that a factory belongs to, or for an asynchronous factory.
///
/// An attempt is a synchronous lookup, which waits for neither, so there can be several attempts. If one fails for want
/// of an instance that only an asynchronous factory makes, that instance is made. Then the synchronous factories that
/// missed it run again, the innermost first; the outermost runs as part of the next attempt. If an attempt fails
/// because the factory belongs to an actor, the next attempt is made there. There is no further attempt if the last one
/// has missed nothing new.
struct Obtaining: Sendable {
  let context: UDIContext
  let request: LookupRequest
  var arguments: KeptArguments?
  /// What all attempts of the lookup share under the lifetime `.graph`. The lookups of an initialiser's parameters have
  /// it in common.
  var graphs = LastingGraphs()

  /// Performs the lookup, and waits as long as necessary.
  ///
  /// - Returns: An instance of exactly the requested type.
  /// - Throws: `UDILinkError`, `CancellationError`, or what a factory throws.
  nonisolated(nonsending) func run() async throws -> Instance {
    do { return try await make(nil, on: nil).value } catch {
      throw context.explained(error, request)
    }
  }

  /// How many attempts in a row may ask for an instance with arguments without finding one that was made for them
  /// before. A factory that does so more often probably asks with other arguments each time.
  private static var patience: Int { 200 }

  /// Attempts the lookup until it succeeds, and makes what is missing in between.
  ///
  /// - Parameters:
  ///   - call: A factory's call during the lookup, if only that call is to be repeated; nil for the whole lookup.
  ///   - parameters: The first parameters of the factory, if it is an initialiser and they have been made already.
  ///   - actor: The actor on which to begin; nil for the caller's.
  nonisolated(nonsending) private func make(
    _ call: RunningCall?, given parameters: GivenParameters? = nil, on actor: (any Actor)?
  ) async throws -> OwnedInstance {
    var (parameters, actor) = (parameters, actor)
    // The actors to which attempts have moved. No attempt moves to the same one again. There can be several, because
    // the provider might be replaced in the meantime by one that belongs to a different actor.
    var triedActors = actor.map { [$0] } ?? []
    // What has been made is held here, so that factories find it even if its lifetime is weak.
    var made: [(unmade: Unmade, parameterCount: Int)] = []
    var held: [OwnedInstance] = []
    defer { withExtendedLifetime(held) {} }
    var inVain = 0
    while true {
      // A factory that runs alone gets none of the graphs, because it might belong to an instance with its own graph.
      let missed = ObtainingAttempt(given: parameters, sharing: call == nil ? graphs : nil)
      let error: any Error
      switch try await attempt(missed, calling: call, on: actor) {
      case .success(let instance): return instance
      case .failure(let reason): error = reason
      }
      if case ProviderFailure.asynchronous(let unmade) = error {
        // The lookup itself has found an asynchronous factory.
        guard let made = try await unmade.obtain() else { continue }
        // If the instance is not of the requested type, it is released here, on its own actor.
        return try withExtendedLifetime(made) { own(try exact(made.value, unmade)) }
      }
      let count = missed.parameterCount
      guard let unmade = missed.request,
        !made.contains(where: { $0.parameterCount == count && $0.unmade.isSame(as: unmade) })
      else {
        // Nothing new is missing. If the provider belongs to an actor that has not been tried, that is tried next.
        guard case ProviderFailure.isolatedElsewhere(let isolation) = error, let next = isolation.actor,
          !triedActors.contains(where: { $0 === next })
        else { throw error }
        triedActors.append(next)
        actor = next
        continue
      }
      inVain = unmade.arguments == nil || missed.hasFoundEarlier ? 0 : inVain + 1
      if inVain > Self.patience { throw error }
      made.append((unmade, count))
      guard var latest = try await obtain(unmade, after: error, missed) else { continue }
      held.append(latest)
      // Runs the factories that missed it again, the innermost first. The outermost one is left to the next attempt.
      parameters = missed.parameters(at: 1, of: unmade)
      var isParameter = true
      for depth in (2..<max(unmade.askers.count + 1, 2)).reversed() {
        let call = unmade.askers[depth - 1]
        let isWanted = missed.parameters(at: depth - 1, of: unmade) != nil
        // The instance has to reach the factory that asked for it: that factory either is given it, or looks it up.
        guard isWanted || call.provider.keeps else {
          isParameter = false
          continue
        }
        let given = missed.parameters(at: depth, of: unmade).map { isParameter ? $0.followed(by: latest) : $0 }
        do { latest = try await make(call, given: given, on: actor) } catch {
          guard isWanted || error is CancellationError else {
            isParameter = false
            // The factory that asked might do without it.
            break
          }
          let (provider, asker) = (call.provider, missed.parameters(at: depth - 1, of: unmade))
          let request = LookupRequest(provider.madeType, provider.reach, named: provider.key.name)
          let explained = call.context.explained(error, request)
          throw passOn(explained, unmade.askers.prefix(depth - 1), asParameter: asker)
        }
        held.append(latest)
        isParameter = true
      }
      if isParameter { parameters = parameters?.followed(by: latest) }
    }
  }

  /// Obtains an asynchronous instance for a synchronous factory.
  ///
  /// - Parameter failure: The error with which the factory failed when it did not get the instance.
  /// - Returns: Nil if the provider has left its context in the meantime.
  /// - Throws: The error that the synchronous factories pass on if the instance cannot be made.
  nonisolated(nonsending) private func obtain(
    _ unmade: Unmade, after failure: any Error, _ missed: ObtainingAttempt
  ) async throws -> OwnedInstance? {
    do { return try await unmade.obtain() } catch {
      // If the factory did not fail for lack of the instance, the factory's own error is thrown, unless obtaining was
      // cancelled or found a cycle.
      if !failure.needsObtain, !(error is CancellationError), !error.isCycle { throw failure }
      let request = LookupRequest(unmade.provider.madeType, request.reach, named: unmade.provider.key.name)
      throw passOn(
        unmade.context.explained(error, request), unmade.askers[...],
        asParameter: missed.parameters(at: unmade.askers.count, of: unmade))
    }
  }

  /// Returns the error that reaches the caller if each of the factories passes it on.
  ///
  /// - Parameters:
  ///   - calls: The calls of the factories, the outermost first.
  ///   - parameters: The parameters before the one that is missing, if the innermost factory is an initialiser.
  private func passOn(
    _ error: any Error, _ calls: ArraySlice<RunningCall>, asParameter parameters: GivenParameters? = nil
  ) -> any Error {
    let asked = parameters.flatMap { parameters in
      (error as? UDILinkError)?.asked(asParameter: parameters.parameters.count + 1)
    }
    return calls.reversed().reduce(asked ?? error) { $1.provider.passOn($0) }
  }

  /// Returns an asynchronous factory's instance as exactly the requested type.
  ///
  /// - Throws: `ProviderFailure.notConvertible`.
  private func exact(_ instance: Instance, _ unmade: Unmade) throws -> Instance {
    func cast<Dependency>(_ type: Dependency.Type) -> Instance? {
      instance.value(as: type, isExact: unmade.provider.madeType == type).map { Instance($0) }
    }
    guard let exact = _openExistential(request.type, do: cast) else {
      throw ProviderFailure.notConvertible(from: unmade.provider.madeType)
    }
    return exact
  }

  private func own(_ instance: Instance) -> OwnedInstance {
    OwnedInstance(instance, by: request.reach == .mainActor ? MainActor.shared : nil)
  }

  // MARK: - One attempt

  /// Makes an attempt on this thread.
  private func attempt(_ attempt: ObtainingAttempt, calling call: RunningCall?) -> Result<OwnedInstance, any Error> {
    func lookUp<Dependency>(_ type: Dependency.Type) throws -> Instance {
      let found: Dependency = try context.provided(request, with: arguments?.arguments)
      return Instance(found)
    }
    defer { withExtendedLifetime(arguments) {} }
    // There might be no provider yet.
    Resolution.prepare()
    let result = Result {
      try Resolution.current.object.running(attempt) {
        if let call { try call.run() } else { own(try _openExistential(request.type, do: lookUp)) }
      }
    }
    if case .success = result, let unmade = attempt.kept {
      // A factory did without an asynchronous instance that `obtain` could have made for it.
      let request = LookupRequest(unmade.provider.madeType, request.reach)
      unmade.context.report(ProviderFailure.asynchronous(unmade), from: unmade.provider, request)
    }
    return result
  }

  /// Makes an attempt on an actor, or on the caller's if none is named.
  ///
  /// - Throws: `CancellationError` if the current task is cancelled while it waits for the actor.
  nonisolated(nonsending) private func attempt(
    _ attempt: ObtainingAttempt, calling call: RunningCall?, on actor: (any Actor)?
  ) async throws -> Result<OwnedInstance, any Error> {
    guard let actor else { return self.attempt(attempt, calling: call) }
    return try await Visit.to(actor) { self.attempt(attempt, calling: call) }
  }
}
