/// A lookup that can wait: for the actor that a factory belongs to, or for an asynchronous factory.
struct Obtaining: Sendable {
  let context: UDIContext
  let type: Any.Type
  let name: UDIName?
  let reach: Reach
  let search: UDISearch?
  let arguments: KeptArguments?

  /// An attempt to look up without waiting.
  private enum Attempt {
    case found(Instance)
    /// - Parameter unmade: What a synchronous factory needed that only an asynchronous one can make.
    case failed(any Error, unmade: Unmade?)
  }

  /// How often a synchronous factory runs again. If that is not enough, it probably asks with other arguments each
  /// time.
  private static var limit: Int { 200 }

  /// Looks up, and waits as long as necessary.
  ///
  /// - Returns: An instance of exactly the requested type.
  /// - Throws: `UDILinkError`, `CancellationError`, or what a factory throws.
  nonisolated(nonsending) func run() async throws -> Instance {
    var actor: (any Actor)?
    // Each actor is tried only once. There can be several, because the provider might be replaced in the meantime by
    // one that belongs to another actor.
    var triedActors: [any Actor] = []
    // A synchronous factory that needs something asynchronous fails. It runs again once that has been made. What was
    // made is held here, so that it is still there if its lifetime is weak.
    var made: [(unmade: Unmade, instance: ActorOwned<Instance>)] = []
    do {
      while true {
        let attempt = if let actor { await look(on: actor) } else { look() }
        switch attempt {
        case .found(let instance): return instance
        case .failed(ProviderFailure.asynchronous(let unmade), _):
          // What was asked for has an asynchronous factory.
          if let instance = try await unmade.obtain() { return try exact(instance, unmade) }
        case .failed(let error, let unmade?)
        where made.count < Self.limit && !made.contains { $0.unmade.isSame(as: unmade) }:
          // A synchronous factory on the way needs something asynchronous.
          if let instance = try await obtain(unmade, after: error) {
            made.append((unmade, ActorOwned(instance, by: unmade.provider.isolation.owner(unmade.provider.reach))))
          }
        case .failed(let error, _):
          // Something on the way might belong to another actor.
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

  /// Gets what a synchronous factory needs.
  ///
  /// - Parameter failure: How the factory failed without it.
  /// - Throws: What the factory would have thrown if it had got this error.
  nonisolated(nonsending) private func obtain(_ unmade: Unmade, after failure: any Error) async throws -> Instance? {
    do { return try await unmade.obtain() } catch {
      // The factory can do without it: it has failed for another reason.
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

  /// The actor on which a lookup that has failed here might succeed: the factory's actor, or the main actor if set-up
  /// blocks have to run there. Nil if there is no such actor.
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
    let resolution = PerThread.resolution.object
    let outer = resolution.beginObtaining()
    do {
      let instance = try _openExistential(type, do: look)
      if let unmade = resolution.endObtaining(outer) {
        // A factory has done without something that it could have had.
        let failure = ProviderFailure.asynchronous(unmade)
        unmade.context.report(failure, unmade.provider, unmade.provider.madeType, nil)
      }
      return .found(instance)
    } catch { return .failed(error, unmade: resolution.endObtaining(outer)) }
  }

  /// Looks up on a given actor. Meanwhile the thread remembers the actor, so that factories of that actor may run.
  private func look(on actor: isolated any Actor) -> Attempt {
    let resolution = PerThread.resolution.object
    let outer = resolution.actor
    resolution.actor = actor
    defer { resolution.actor = outer }
    return look()
  }
}
