/// A lookup for `obtain`, which can wait for the actor that a factory belongs to, or for an asynchronous factory.
struct Obtaining: Sendable {
  let context: UDIContext
  let type: Any.Type
  let name: UDIName?
  let reach: Reach
  let search: UDISearch?
  let arguments: KeptArguments?

  /// The result of one lookup that does not wait.
  private enum Attempt {
    case found(Instance)
    /// - Parameter unmade: A request that only an asynchronous factory can fulfil, if a synchronous factory has made
    ///   one; otherwise nil.
    case failed(any Error, unmade: Unmade?)
  }

  /// How many asynchronous instances one run may make for synchronous factories, each of which then runs again. If more
  /// are needed, a factory probably asks with other arguments each time.
  private static var limit: Int { 200 }

  /// Performs the lookup, and waits as long as necessary.
  ///
  /// - Returns: An instance of exactly the requested type.
  /// - Throws: `UDILinkError`, `CancellationError`, or what a factory throws.
  nonisolated(nonsending) func run() async throws -> Instance {
    var actor: (any Actor)?
    // The actors on which this run has performed the lookup. Each is tried only once. There can be several, because the
    // provider might be replaced in the meantime by one that belongs to a different actor.
    var triedActors: [any Actor] = []
    // A synchronous factory that needs an asynchronous instance fails, and runs again once the instance has been made.
    // The instances are held here, so that the factory finds them even if their lifetime is weak.
    var made: [(unmade: Unmade, instance: ActorOwned<Instance>)] = []
    do {
      while true {
        let attempt = if let actor { await look(on: actor) } else { look() }
        switch attempt {
        case .found(let instance): return instance
        case .failed(ProviderFailure.asynchronous(let unmade), _):
          // The lookup itself has found an asynchronous factory.
          if let instance = try await unmade.obtain() { return try exact(instance, unmade) }
        case .failed(let error, let unmade?)
        where made.count < Self.limit && !made.contains { $0.unmade.isSame(as: unmade) }:
          // A synchronous factory needs an asynchronous instance.
          if let instance = try await obtain(unmade, after: error) {
            made.append((unmade, ActorOwned(instance, by: unmade.provider.isolation.owner(unmade.provider.reach))))
          }
        case .failed(let error, _):
          // The provider or a set-up block might belong to a different actor.
          guard let next = actorThatMayGive(after: error), !triedActors.contains(where: { $0 === next }) else {
            throw error
          }
          triedActors.append(next)
          actor = next
        }
      }
    } catch {
      throw context.explained(error, type, name, reach, search)
    }
  }

  /// Obtains an asynchronous instance for a synchronous factory.
  ///
  /// - Parameter failure: The error with which the factory failed when it did not get the instance.
  /// - Throws: The error that the synchronous factories pass on if the instance cannot be made.
  nonisolated(nonsending) private func obtain(_ unmade: Unmade, after failure: any Error) async throws -> Instance? {
    do { return try await unmade.obtain() } catch {
      // If the factory did not fail for lack of the instance, the factory's own error is thrown, unless obtaining was
      // cancelled or found a cycle.
      if !failure.needsObtain, !(error is CancellationError), !error.isCycle { throw failure }
      let key = unmade.provider.key
      let error = unmade.context.explained(error, unmade.provider.madeType, key.name, reach, nil)
      throw unmade.askers.reversed().reduce(error) { $1.passOn($0) }
    }
  }

  private func exact(_ instance: Instance, _ unmade: Unmade) throws -> Instance {
    func convert<Dependency>(_ type: Dependency.Type) throws -> Instance {
      let maker = unmade.aliases.last ?? unmade.provider
      guard let value = instance.value(as: type, isExact: maker.makes(type)) else { throw ProviderFailure.nothing }
      return Instance(value)
    }
    return try _openExistential(type, do: convert)
  }

  /// Returns the actor on which a lookup that has failed here might succeed: the factory's actor, or the main actor if
  /// set-up blocks have to run there. Nil if there is no such actor.
  private func actorThatMayGive(after error: any Error) -> (any Actor)? {
    switch error as? ProviderFailure {
    case .isolatedElsewhere(let isolation): isolation.actor
    case .nothing where !MainActorCheck.isOnMainActor && context.withNode({ $0.mustRunSetUps(search) }):
      MainActor.shared
    default: nil
    }
  }

  private func look() -> Attempt {
    func look<Dependency>(_ type: Dependency.Type) throws -> Instance {
      let found = try context.provided(type, name, reach, search, arguments?.arguments)
      return Instance(found as Dependency)
    }
    defer { withExtendedLifetime(arguments) {} }
    // There might be no provider yet.
    PerThread.prepare()
    let resolution = PerThread.resolution.object
    let outer = resolution.beginObtaining()
    do {
      let instance = try _openExistential(type, do: look)
      if let unmade = resolution.endObtaining(outer) {
        // A factory did without an asynchronous instance that `obtain` could have made for it.
        let failure = ProviderFailure.asynchronous(unmade)
        unmade.context.report(failure, unmade.provider, unmade.provider.madeType, nil)
      }
      return .found(instance)
    } catch { return .failed(error, unmade: resolution.endObtaining(outer)) }
  }

  /// Performs the lookup on the given actor. Meanwhile, the thread remembers the actor, so that factories of that actor
  /// may run.
  private func look(on actor: isolated any Actor) -> Attempt {
    let resolution = PerThread.resolution.object
    let outer = resolution.actor
    resolution.actor = actor
    defer { resolution.actor = outer }
    return look()
  }
}
