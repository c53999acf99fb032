/// The attempts to run one lookup, or one call of a factory, for `obtain`, one after the other: what the present one
/// has missed, and what has been made and found so far.
final class ObtainingAttempts: @unchecked Sendable {
  // Unchecked: one thread at a time uses this object: the one on which an attempt runs, and then the task that has
  // begun it. If the task is cancelled while the attempt runs on an actor, the task does not use it any more.

  /// How much can be made. More would probably mean that a factory asks with other arguments each time.
  private static var limit: Int { 4000 }

  /// The actors to which attempts have moved. No attempt moves to the same one again. There can be several, because the
  /// provider might be replaced in the meantime by one that belongs to a different actor.
  private var actors: [any Actor]
  /// The actor on which the next attempt is made; nil for the caller's.
  var actor: (any Actor)? { actors.last }
  /// What the attempts share under the lifetime `.graph`.
  let graph: Graph
  /// What has been made. It is held, so that factories find it even if its lifetime is weak.
  var held: [OwnedInstance] = []
  /// What has been found for initialisers that then missed something, in the order in which they were called.
  private var found: [FoundParameters] = []
  /// What the last attempt has missed and, if it was an initialiser's parameter, those before it and their number.
  private var last: (unmade: Unmade, found: FoundParameters?, count: Int)?

  /// The last request that only an asynchronous factory can fulfil, among those for instances that are kept.
  fileprivate(set) var kept: Unmade?
  /// The last such request for an instance that is not kept.
  fileprivate(set) var unkept: Unmade?

  init(on actor: (any Actor)? = nil, sharing graph: Graph) {
    actors = actor.map { [$0] } ?? []
    self.graph = graph
  }

  /// The attempts to run a factory again, with what has been found for it and for initialisers inside it.
  ///
  /// - Parameter calls: The calls that lead to the factory, and the factory's own.
  func inside(_ calls: ArraySlice<RunningCall>) -> ObtainingAttempts {
    let inner = ObtainingAttempts(on: actor, sharing: graph)
    inner.found = found.filter { $0.calls.starts(with: calls) }
    for found in inner.found { found.calls.removeFirst(calls.count - 1) }
    return inner
  }

  /// Begins an attempt.
  func begin() {
    (kept, unkept) = (nil, nil)
    for found in found { found.isTaken = false }
  }

  /// Decides what to do after an attempt has failed.
  ///
  /// - Returns: The request to fulfil before the next attempt; nil if that is made on another actor instead.
  /// - Throws: The error, if the attempt has missed nothing new.
  @inline(never)
  func next(after error: any Error) throws -> Unmade? {
    if error is CancellationError { throw error }
    // An instance that is not kept can only be given to an initialiser.
    if let unmade = unkept.flatMap({ parameters(beside: $0) == nil ? nil : $0 }) ?? kept, held.count < Self.limit {
      let found = parameters(beside: unmade)
      let missed = (unmade: unmade, found: found, count: found?.parameters.count ?? 0)
      let isNew = last.map { !$0.unmade.isSame(as: unmade) || $0.found !== found || $0.count != missed.count } ?? true
      last = missed
      if isNew { return unmade }
    }
    guard case ProviderFailure.isolatedElsewhere(let isolation) = error, let next = isolation.actor,
      !actors.contains(where: { $0 === next })
    else { throw error }
    actors.append(next)
    return nil
  }

  /// Adds an instance that has been made. If it is an initialiser's parameter, the next attempt gives it to the
  /// initialiser.
  func add(_ instance: OwnedInstance, for unmade: Unmade) {
    held.append(instance)
    parameters(beside: unmade)?.parameters.append(instance)
  }

  /// The parameters before the one that an initialiser has missed in this attempt; nil if it was no initialiser.
  func parameters(beside unmade: Unmade) -> FoundParameters? {
    found.last { $0.isTaken && $0.calls == unmade.askers }
  }

  /// What has been found for a call of an initialiser.
  fileprivate func parameters(for calls: [RunningCall]) -> FoundParameters {
    let parameters = found.first { !$0.isTaken && $0.calls == calls } ?? FoundParameters(calls)
    parameters.isTaken = true
    return parameters
  }

  fileprivate func note(_ parameters: FoundParameters) {
    if !found.contains(where: { $0 === parameters }) { found.append(parameters) }
  }
}

/// A call of a synchronous factory that was running when an attempt missed something.
final class RunningCall: Sendable, Equatable {
  let provider: Provider
  let context: UDIContext
  let arguments: KeptArguments?

  fileprivate init(_ frame: Resolution.Frame) {
    (provider, context) = (frame.provider.object, frame.context.object)
    arguments = frame.arguments.map { KeptArguments($0) }
  }

  /// Whether both are calls of the same factory for the same context.
  static func == (left: RunningCall, right: RunningCall) -> Bool {
    left.provider === right.provider && left.context === right.context
  }
}

/// The first parameters of an initialiser that `register(using:)` was given, which have been found although another one
/// was missing. They are given to the same call in the next attempt, so that none is made twice.
final class FoundParameters {
  /// The calls that lead to the initialiser's, and that call itself.
  fileprivate(set) var calls: [RunningCall]
  var parameters: [OwnedInstance] = []
  /// Whether the present attempt has given them to a call.
  fileprivate var isTaken = false

  fileprivate init(_ calls: [RunningCall]) { self.calls = calls }
}

// MARK: - The attempt that a thread runs

extension Resolution {
  /// Runs an attempt of `obtain` on this thread.
  func running(_ attempt: ObtainingAttempts, _ body: () throws -> OwnedInstance) rethrows -> OwnedInstance {
    let outer = unsafe (obtaining, graph)
    unsafe (obtaining, graph) = (attempt, attempt.graph)
    defer { unsafe (obtaining, graph) = outer }
    return try body()
  }

  /// Whether `obtain` is looking something up on this thread.
  var isObtaining: Bool { unsafe obtaining != nil }

  /// Notes a request that only an asynchronous factory can fulfil. If `obtain` is looking something up, it learns of
  /// the request; but not of one that a look makes, because what is followed may come later.
  func noteUnmade(_ unmade: Unmade) {
    unsafe asyncMisses += 1
    if isLooking { return }
    if unmade.provider.keeps { unsafe obtaining?.kept = unmade } else { unsafe obtaining?.unkept = unmade }
  }

  /// What earlier attempts have found for the initialiser that is running; nil unless `obtain` is looking something up.
  func foundParameters() -> FoundParameters? { unsafe obtaining?.parameters(for: runningCalls) }

  /// Notes what was found for an initialiser, before the lookup of another parameter failed.
  func note(_ parameters: FoundParameters) { unsafe obtaining?.note(parameters) }

  /// The calls of the factories that are running, the outermost first. Empty unless `obtain` is looking something up.
  var runningCalls: [RunningCall] { isObtaining ? unsafe frames.map { RunningCall($0) } : [] }
}
