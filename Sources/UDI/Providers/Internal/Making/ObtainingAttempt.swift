/// One attempt of `obtain`: what it was given, and what it has missed.
final class ObtainingAttempt: @unchecked Sendable {
  // Unchecked: one thread at a time uses an attempt: the one on which it runs, and then the task that has begun it.

  /// The first parameters of the outermost initialiser that the attempt runs, if they have been made already. Nil as
  /// soon as the initialiser has taken them.
  var given: GivenParameters?
  /// What the attempt shares with others under the lifetime `.graph`.
  let graphs: LastingGraphs?
  /// The last request that only an asynchronous factory can fulfil, among those for instances that are kept.
  var kept: Unmade?
  /// The last such request for an instance that is not kept.
  var unkept: Unmade?
  /// For each initialiser that has missed a parameter, the parameters that were looked up before; the latest come last.
  fileprivate var parameters: [GivenParameters] = []
  /// Whether the attempt has found an instance that an asynchronous factory had made for the same arguments.
  var hasFoundEarlier = false

  init(given: GivenParameters?, sharing graphs: LastingGraphs?) {
    self.given = given
    self.graphs = graphs
  }

  /// The request to fulfil before the next attempt. An instance that is not kept can only be given to an initialiser.
  var request: Unmade? {
    if let unkept, parameters(at: unkept.askers.count, of: unkept) != nil { return unkept }
    return kept
  }

  /// How many parameters of the outermost initialiser have been looked up.
  var parameterCount: Int { parameters(at: 1)?.parameters.count ?? 0 }

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
  func running<Result>(_ attempt: ObtainingAttempt, _ body: () throws -> Result) rethrows -> Result {
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
