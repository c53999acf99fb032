/// A lookup for `obtain`, which can wait for the actor that a factory belongs to, or for an asynchronous factory.
///
/// An attempt is a synchronous lookup, which waits for neither, so there can be several attempts. If one fails for want
/// of an instance that only an asynchronous factory makes, that instance is made. Then the synchronous factories that
/// missed it run again, the innermost first; the outermost runs as part of the next attempt. If an attempt fails
/// because the factory belongs to an actor, the next attempt is made there. There is no further attempt if the last one
/// has missed nothing new.
final class Obtaining: Sendable {
  let context: UDIContext
  let request: LookupRequest
  private let arguments: KeptArguments?
  /// What all attempts of the lookup share under the lifetime `.graph`. The lookups of an initialiser's parameters have
  /// it in common.
  private let graphs: LastingGraphs

  init(
    context: UDIContext, request: LookupRequest, arguments: KeptArguments? = nil,
    graphs: LastingGraphs = LastingGraphs()
  ) {
    (self.context, self.request, self.arguments, self.graphs) = (context, request, arguments, graphs)
  }

  /// Performs the lookup, and waits as long as necessary.
  ///
  /// - Returns: An instance of exactly the requested type.
  /// - Throws: `UDILinkError`, `CancellationError`, or what a factory throws.
  nonisolated(nonsending) func run() async throws -> Instance {
    do { return try await make(nil, on: nil).value } catch {
      throw context.explained(error, request)
    }
  }

  /// Attempts the lookup until it succeeds, and makes what is missing in between.
  ///
  /// - Parameters:
  ///   - call: A factory's call during the lookup, if only that call is to be repeated; nil for the whole lookup.
  ///   - parameters: The first parameters of the factory, if it is an initialiser and they have been made already.
  ///   - actor: The actor on which to begin; nil for the caller's.
  nonisolated(nonsending) private func make(
    _ call: RunningCall?, given parameters: GivenParameters? = nil, on actor: (any Actor)?
  ) async throws -> OwnedInstance {
    // A factory that runs alone gets none of the graphs, because it might belong to an instance with its own graph.
    let attempts = ObtainingAttempts(given: parameters, on: actor, sharing: call == nil ? graphs : nil)
    defer { withExtendedLifetime(attempts) {} }
    while true {
      let error: any Error
      switch try await attempt(attempts, calling: call) {
      case .success(let instance): return instance
      case .failure(let reason): error = reason
      }
      if case ProviderFailure.asynchronous(let unmade) = error {
        // The lookup itself has found an asynchronous factory.
        guard let made = try await unmade.obtain() else { continue }
        // If the instance is not of the requested type, it is released here, on its own actor.
        return try withExtendedLifetime(made) { own(try exact(made.value, unmade)) }
      }
      if let unmade = try attempts.next(after: error) { try await supply(unmade, after: error, attempts) }
    }
  }

  // What follows is not part of `make`, because each part of an asynchronous function between two suspensions is
  // compiled with everything that might come next.

  /// Makes what an attempt has missed, and runs the factories that missed it again, the innermost first. The outermost
  /// one is left to the next attempt.
  nonisolated(nonsending) private func supply(
    _ unmade: Unmade, after error: any Error, _ attempts: ObtainingAttempts
  ) async throws {
    guard var latest = try await obtain(unmade, after: error, attempts) else { return }
    attempts.held.append(latest)
    var isParameter = true
    for depth in (2..<max(unmade.askers.count + 1, 2)).reversed() {
      let call = unmade.askers[depth - 1]
      let isWanted = attempts.parameters(at: depth - 1, of: unmade) != nil
      // The instance has to reach the factory that asked for it: that factory either is given it, or looks it up.
      guard isWanted || call.provider.keeps else {
        isParameter = false
        continue
      }
      let given = attempts.parameters(at: depth, of: unmade).map { isParameter ? $0.followed(by: latest) : $0 }
      do { latest = try await make(call, given: given, on: attempts.actor) } catch {
        isParameter = false
        // The factory that asked might do without it.
        guard isWanted || error is CancellationError else { break }
        let request = LookupRequest(call.provider.madeType, call.provider.reach, named: call.provider.key.name)
        throw passOn(error, call.context, request, depth - 1, unmade, attempts)
      }
      attempts.held.append(latest)
      isParameter = true
    }
    attempts.continueWith(latest, isParameter: isParameter, unmade)
  }

  /// Obtains an asynchronous instance for a synchronous factory.
  ///
  /// - Parameter failure: The error with which the factory failed when it did not get the instance.
  /// - Returns: Nil if the provider has left its context in the meantime.
  /// - Throws: The error that the synchronous factories pass on if the instance cannot be made.
  nonisolated(nonsending) private func obtain(
    _ unmade: Unmade, after failure: any Error, _ missed: ObtainingAttempts
  ) async throws -> OwnedInstance? {
    do { return try await unmade.obtain() } catch {
      // If the factory did not fail for lack of the instance, the factory's own error is thrown, unless obtaining was
      // cancelled or found a cycle.
      if !failure.needsObtain, !(error is CancellationError), !error.isCycle { throw failure }
      let request = LookupRequest(unmade.provider.madeType, request.reach, named: unmade.provider.key.name)
      throw passOn(error, unmade.context, request, unmade.askers.count, unmade, missed)
    }
  }

  /// Returns the error that reaches the caller if each of the factories that asked passes it on.
  ///
  /// - Parameters:
  ///   - context: Where the lookup failed.
  ///   - request: What it asked for.
  ///   - depth: The number of the factories, counted from the outermost.
  @inline(never)
  private func passOn(
    _ error: any Error, _ context: UDIContext, _ request: LookupRequest, _ depth: Int, _ unmade: Unmade,
    _ missed: ObtainingAttempts
  ) -> any Error {
    var error = context.explained(error, request)
    // The innermost factory may be an initialiser, which has other parameters before the one that is missing.
    if let parameters = missed.parameters(at: depth, of: unmade), let failure = error as? UDILinkError {
      error = failure.asked(asParameter: parameters.parameters.count + 1)
    }
    for call in unmade.askers.prefix(depth).reversed() { error = call.provider.passOn(error) }
    return error
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
  @inline(never)
  private func attemptHere(_ attempt: ObtainingAttempts, _ call: RunningCall?) -> Result<OwnedInstance, any Error> {
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

  /// Makes an attempt on the actor that it belongs on, or on the caller's.
  ///
  /// - Throws: `CancellationError` if the current task is cancelled while it waits for the actor.
  nonisolated(nonsending) private func attempt(
    _ attempts: ObtainingAttempts, calling call: RunningCall?
  ) async throws -> Result<OwnedInstance, any Error> {
    attempts.begin()
    guard let actor = attempts.actor else { return attemptHere(attempts, call) }
    return try await Visit.to(actor) { self.attemptHere(attempts, call) }
  }
}
