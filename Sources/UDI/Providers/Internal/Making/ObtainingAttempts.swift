/// The attempts of one `obtain`, one after the other: what the present one is given, what it has missed, and what has
/// been made in between.
final class ObtainingAttempts: @unchecked Sendable {
  // Unchecked: one thread at a time uses this object: the one on which an attempt runs, and then the task that has
  // begun it.

  /// The actor on which the next attempt is made; nil for the caller's.
  private(set) var actor: (any Actor)?
  /// The actors to which attempts have moved. No attempt moves to the same one again. There can be several, because the
  /// provider might be replaced in the meantime by one that belongs to a different actor.
  private var triedActors: [any Actor]
  /// What has been asked for in between, each with the number of parameters that had been looked up.
  private var asked: [(unmade: Unmade, parameterCount: Int)] = []
  /// What has been made. It is held, so that factories find it even if its lifetime is weak.
  var held: [OwnedInstance] = []
  /// How many attempts in a row have asked for an instance with arguments without finding one that was made for them
  /// before.
  private var inVain = 0
  /// What attempts share with others under the lifetime `.graph`.
  let graphs: LastingGraphs?
  /// The first parameters of the outermost initialiser, if they have been made already.
  private var first: GivenParameters?

  /// `first`, during an attempt. Nil as soon as the initialiser has taken them.
  var given: GivenParameters?
  /// The last request that only an asynchronous factory can fulfil, among those for instances that are kept.
  var kept: Unmade?
  /// The last such request for an instance that is not kept.
  var unkept: Unmade?
  /// For each initialiser that has missed a parameter, the parameters that were looked up before; the latest come last.
  fileprivate var parameters: [GivenParameters] = []
  /// Whether the attempt has found an instance that an asynchronous factory had made for the same arguments.
  var hasFoundEarlier = false

  init(given: GivenParameters?, on actor: (any Actor)?, sharing graphs: LastingGraphs?) {
    first = given
    self.actor = actor
    triedActors = actor.map { [$0] } ?? []
    self.graphs = graphs
  }

  /// Begins an attempt.
  func begin() { (given, kept, unkept, parameters, hasFoundEarlier) = (first, nil, nil, [], false) }

  /// Decides what to do after an attempt has failed.
  ///
  /// - Returns: The request to fulfil before the next attempt; nil if that is made on another actor instead.
  /// - Throws: The error, if the attempt has missed nothing new.
  @inline(never)
  func next(after error: any Error) throws -> Unmade? {
    let count = parameters(at: 1)?.parameters.count ?? 0
    guard let unmade = request,
      !asked.contains(where: { $0.parameterCount == count && $0.unmade.isSame(as: unmade) })
    else {
      guard case ProviderFailure.isolatedElsewhere(let isolation) = error, let next = isolation.actor,
        !triedActors.contains(where: { $0 === next })
      else { throw error }
      triedActors.append(next)
      actor = next
      return nil
    }
    inVain = unmade.arguments == nil || hasFoundEarlier ? 0 : inVain + 1
    // A factory that asks in vain so often probably asks with other arguments each time.
    if inVain > 200 { throw error }
    asked.append((unmade, count))
    return unmade
  }

  /// Gives the outermost initialiser, in the next attempt, the parameters that it has looked up in this one.
  ///
  /// - Parameter isParameter: Whether the latest instance is the parameter that was missing.
  func continueWith(_ latest: OwnedInstance, isParameter: Bool, _ unmade: Unmade) {
    first = parameters(at: 1, of: unmade)
    if isParameter { first = first?.followed(by: latest) }
  }

  /// The request to fulfil before the next attempt. An instance that is not kept can only be given to an initialiser.
  private var request: Unmade? {
    if let unkept, parameters(at: unkept.askers.count, of: unkept) != nil { return unkept }
    return kept
  }

  private func parameters(at depth: Int) -> GivenParameters? { parameters.last { $0.depth == depth } }

  /// The parameters of an initialiser that missed something; nil if the factory at this depth is none.
  ///
  /// - Parameter depth: The position of the factory's call among the askers, counted from 1, the outermost.
  func parameters(at depth: Int, of unmade: Unmade) -> GivenParameters? {
    guard let asker = unmade.askers.dropFirst(depth - 1).first, let noted = parameters(at: depth) else { return nil }
    return noted.provider === asker.provider ? noted : nil
  }
}

/// An instance that is released on an actor, if it belongs to one.
typealias OwnedInstance = ActorOwned<Instance>

/// A call of a synchronous factory that was running when an attempt missed something.
final class RunningCall: Sendable {
  let provider: Provider
  let context: UDIContext
  let arguments: KeptArguments?

  fileprivate init(_ frame: Resolution.Frame) {
    (provider, context) = (frame.provider.object, frame.context.object)
    arguments = frame.arguments.map { KeptArguments($0) }
  }

  /// Asks the provider for the instance once more.
  func run() throws -> OwnedInstance {
    guard let instance = try provider.instance(for: context, with: arguments?.arguments, isFresh: false) else {
      throw ProviderFailure.nothing
    }
    return OwnedInstance(instance, by: provider.isolation.owner(provider.reach))
  }
}

/// The first parameters of an initialiser that `register(using:)` was given, which have been looked up. They are given
/// to the next call of the initialiser, so that none is made twice.
final class GivenParameters: Sendable {
  let provider: Provider
  let parameters: [OwnedInstance]
  /// How many factories were running, one inside the other, with the initialiser as the innermost.
  fileprivate let depth: Int

  fileprivate init(_ parameters: [OwnedInstance], of provider: Provider, at depth: Int) {
    (self.provider, self.parameters, self.depth) = (provider, parameters, depth)
  }

  func followed(by parameter: OwnedInstance) -> GivenParameters {
    GivenParameters(parameters + [parameter], of: provider, at: depth)
  }
}

// MARK: - The attempt that a thread runs

extension Resolution {
  /// Runs an attempt of `obtain` on this thread.
  func running(_ attempt: ObtainingAttempts, _ body: () throws -> OwnedInstance) rethrows -> OwnedInstance {
    let outer = unsafe obtaining
    unsafe obtaining = attempt
    unsafe attempt.graphs?.exchange(with: &graphs)
    defer {
      unsafe obtaining = outer
      unsafe attempt.graphs?.exchange(with: &graphs)
      attempt.graphs?.noteAttempt()
    }
    return try body()
  }

  /// Whether `obtain` is looking something up on this thread.
  var isObtaining: Bool { unsafe obtaining != nil }

  /// Notes a request that only an asynchronous factory can fulfil. If `obtain` is looking something up, it learns of
  /// the request.
  func noteUnmade(_ unmade: Unmade) {
    unsafe asyncMisses += 1
    if unmade.isKept { unsafe obtaining?.kept = unmade } else { unsafe obtaining?.unkept = unmade }
  }

  /// Notes that a lookup has found an instance that an asynchronous factory has made for the same arguments.
  func noteMadeForArguments() { unsafe obtaining?.hasFoundEarlier = true }

  /// Takes the parameters that `obtain` has made for the initialiser that is running. Empty if the initialiser is not
  /// the outermost factory, or if none have been made.
  func takeGivenParameters() -> [OwnedInstance] {
    guard unsafe frames.count == 1, let given = unsafe obtaining?.given.take(), given.provider === runningProvider
    else { return [] }
    return given.parameters
  }

  /// Notes the parameters that were looked up for the initialiser that is running, before the lookup of another one
  /// failed.
  func noteParameters(_ parameters: [OwnedInstance]) {
    guard let runningProvider else { return }
    unsafe obtaining?.parameters.append(GivenParameters(parameters, of: runningProvider, at: frames.count))
  }

  /// The calls of the factories that are running, the outermost first. Empty unless `obtain` is looking something up.
  var runningCalls: [RunningCall] {
    isObtaining ? unsafe frames.map { RunningCall($0) } : []
  }
}
