/// A lookup for `obtain`, which can wait for the actor that a factory belongs to, or for an asynchronous factory.
///
/// An attempt is a synchronous lookup, which waits for neither, so there can be several attempts. If one fails for want
/// of an instance that only an asynchronous factory makes, that instance is made. Then the synchronous factories that
/// missed it and keep their instances run again, the innermost first, each with attempts of its own; all others run
/// again as part of the next attempt. If an attempt fails because the factory belongs to an actor, the next attempt is
/// made there. There is no further attempt if the last one has missed nothing new.
final class Obtaining: Sendable {
  let context: UDIContext
  let request: LookupRequest
  private let arguments: KeptArguments?
  /// What all attempts of the lookup share under the lifetime `.graph`. The lookups of an initialiser's parameters have
  /// it in common.
  private let graph: Graph
  /// In a warm-up, the id of the provider, if it keeps what it makes; otherwise 0.
  private let providerID: UInt
  /// What the warm-up has tried to make before: if that has failed, it is not made again. Set before the lookup begins.
  nonisolated(unsafe) var tried: [Obtaining] = []
  /// The error with which the lookup has ended, for the next group of a warm-up. Read after the end.
  nonisolated(unsafe) var error: (any Error)?

  init(
    context: UDIContext, request: LookupRequest, of providerID: UInt = 0, arguments: KeptArguments? = nil,
    graph: Graph = Graph()
  ) {
    (self.context, self.request, self.arguments, self.graph) = (context, request, arguments, graph)
    self.providerID = providerID
  }

  /// Performs the lookup, and waits as long as necessary.
  ///
  /// - Returns: An instance of exactly the requested type.
  /// - Throws: `UDILinkError`, `CancellationError`, or what a factory throws.
  nonisolated(nonsending) func run() async throws -> Instance {
    do { return try await make(nil, ObtainingAttempts(sharing: graph)).value } catch {
      throw context.explained(error, request)
    }
  }

  /// Attempts the lookup until it succeeds, and makes what is missing in between.
  ///
  /// - Parameter call: A factory's call during the lookup, if only that call is to be repeated; nil for the whole
  ///   lookup.
  nonisolated(nonsending) private func make(
    _ call: RunningCall?, _ attempts: ObtainingAttempts
  ) async throws -> OwnedInstance {
    while true {
      do { return try await attempt(attempts, calling: call) } catch ProviderFailure.asynchronous(let unmade) {
        // The lookup itself has found an asynchronous factory.
        guard let made = try await unmade.obtain() else { continue }
        // If the instance is not of the requested type, it is released here, on its own actor.
        return try withExtendedLifetime(made) { OwnedInstance(try exact(made.value, unmade), request.reach) }
      } catch {
        if let unmade = try attempts.next(after: error) { try await supply(unmade, after: error, attempts) }
      }
    }
  }

  // What follows is not part of `make`, because each part of an asynchronous function between two suspensions is
  // compiled with everything that might come next.

  /// Makes what an attempt has missed, and runs those factories that missed it and keep their instances again, the
  /// innermost first. The outermost one is left to the next attempt.
  nonisolated(nonsending) private func supply(
    _ unmade: Unmade, after error: any Error, _ attempts: ObtainingAttempts
  ) async throws {
    guard let made = try await obtain(unmade, after: error, attempts) else { return }
    attempts.add(made, for: unmade)
    for depth in unmade.askers.indices.dropFirst().reversed() where unmade.askers[depth].provider.keeps {
      let inner = attempts.inside(unmade.askers[...depth])
      do { attempts.held.append(try await make(unmade.askers[depth], inner)) } catch {
        // The factory that asked might do without the instance.
        if error is CancellationError { throw error } else { return }
      }
    }
  }

  /// Obtains an asynchronous instance for a synchronous factory.
  ///
  /// - Parameter failure: The error with which the factory failed when it did not get the instance.
  /// - Returns: Nil if the provider has left its context in the meantime.
  /// - Throws: If the instance cannot be made, the error that reaches the caller if each of the factories that asked
  ///   passes it on.
  nonisolated(nonsending) private func obtain(
    _ unmade: Unmade, after failure: any Error, _ attempts: ObtainingAttempts
  ) async throws -> OwnedInstance? {
    do {
      if let error = unsafe tried.first(where: { $0.providerID == unmade.provider.id })?.error { throw error }
      return try await unmade.obtain()
    } catch {
      // If the factory did not fail for lack of the instance, the factory's own error is thrown, unless obtaining was
      // cancelled or found a cycle.
      if !failure.needsObtain, !(error is CancellationError), !error.isCycle { throw failure }
      var error = unmade.context.explained(error, unmade.request)
      // The innermost factory may be an initialiser, which has other parameters before the one that is missing.
      if let found = attempts.parameters(beside: unmade), let missing = error as? UDILinkError {
        error = missing.asked(asParameter: found.parameters.count + 1)
      }
      for call in unmade.askers.reversed() { error = call.provider.passOn(error) }
      throw error
    }
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

  // MARK: - One attempt

  /// Makes an attempt on the actor that it belongs on, or on the caller's.
  ///
  /// - Throws: `CancellationError` if the current task is cancelled while it waits for the actor.
  nonisolated(nonsending) private func attempt(
    _ attempts: ObtainingAttempts, calling call: RunningCall?
  ) async throws -> OwnedInstance {
    attempts.begin()
    guard let actor = attempts.actor else { return try attemptHere(attempts, call) }
    return try await AsyncCreation.visit(actor) { try self.attemptHere(attempts, call) }
  }

  /// Makes an attempt on this thread.
  @inline(never)
  private func attemptHere(_ attempts: ObtainingAttempts, _ call: RunningCall?) throws -> OwnedInstance {
    func lookUp<Dependency>(_ type: Dependency.Type) throws -> OwnedInstance {
      let found: Dependency = try context.provided(request, with: arguments?.arguments)
      return OwnedInstance(Instance(found), request.reach)
    }
    defer { withExtendedLifetime(arguments) {} }
    let instance = try Resolution.current.object.running(attempts) {
      guard let call else { return try _openExistential(request.type, do: lookUp) }
      let made = try call.provider.instance(for: call.context, with: call.arguments?.arguments, isFresh: false)
      guard let made else { throw ProviderFailure.nothing }
      return OwnedInstance(made, call.provider.reach)
    }
    if let unmade = attempts.kept ?? attempts.unkept {
      // A factory has done without an asynchronous instance.
      unmade.context.report(ProviderFailure.asynchronous(unmade), from: unmade.provider, unmade.request)
    }
    return instance
  }
}
