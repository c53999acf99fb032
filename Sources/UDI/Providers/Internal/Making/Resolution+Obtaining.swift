/// How a thread calls a factory for `obtain`.
extension Resolution {
  /// A call of a factory for `obtain`.
  ///
  /// `parameters` are those that have been obtained for the provider's initialiser, until it takes them; nil for a
  /// closure. `base` is the number of frames before the call.
  typealias ObtainedCall = (demand: Demand, provider: Unretained<Provider>, parameters: [OwnedInstance?]?, base: Int)

  /// Runs a factory for `obtain`.
  ///
  /// - Parameter parameters: The parameters that have been obtained for an initialiser; nil for a closure.
  func obtaining<Result>(
    _ demand: Demand, from provider: Provider, with parameters: [OwnedInstance?]?, _ body: () throws -> Result
  ) rethrows -> Result {
    // The values are swapped, and released at the end, because a release might run user code.
    var call: ObtainedCall? = unsafe (demand, Unretained(provider), parameters, frames.count)
    var graph: Graph? = demand.graph
    let outer = unsafe exchange(&isForObtain, with: true)
    unsafe swap(&call, &obtaining)
    unsafe swap(&graph, &self.graph)
    defer {
      unsafe isForObtain = outer
      unsafe swap(&call, &obtaining)
      unsafe swap(&graph, &self.graph)
    }
    return try body()
  }

  // MARK: - The parameters of an initialiser

  /// Takes the parameters that have been obtained for the running initialiser; nil if it looks them up.
  func takeParameters() -> [OwnedInstance?]? {
    guard unsafe obtaining?.parameters != nil, unsafe obtaining?.provider == frames.last?.provider else { return nil }
    return unsafe obtaining?.parameters.take()
  }

  // MARK: - What closures miss

  /// Notes that a lookup has failed, although it might succeed elsewhere. Returns the failure.
  func missedOnlyHere(_ failure: ProviderFailure) -> ProviderFailure {
    unsafe missesOnlyHere += 1
    return failure
  }

  /// Notes the error of a `link` or `linkAll` by the running closure, if that runs for `obtain`. The closure then fails
  /// with this error, so that no instance is kept without a dependency that `obtain` would make.
  ///
  /// - Returns: False if no closure runs here for `obtain`.
  func noteMiss(_ error: UDILinkError) -> Bool {
    let (count, base) = unsafe (frames.count, obtaining?.base ?? .max)
    if count == 0 { return AsyncCall.noteMiss(error) }
    guard unsafe count > completionFrames, unsafe count != attachingFrame else { return false }
    guard count > base || AsyncCall.inFactory != nil else { return false }
    if unsafe missed.last?.frame != count { unsafe missed.append((count, error)) }
    return true
  }

  /// Takes the noted error of the closure that has just ended; nil if it has missed nothing.
  func takeMiss() -> UDILinkError? {
    unsafe missed.last?.frame == frames.count ? unsafe missed.removeLast().error : nil
  }

  /// Forgets the errors of closures that have ended, before another one begins.
  @inline(never)
  func forgetMisses() { unsafe missed.removeAll { unsafe $0.frame >= frames.count } }

  // MARK: - Warm-ups

  /// Throws an error if the factory must not be called: the warm-up that the call is part of has been cancelled, or the
  /// factory has already failed in it.
  @inline(never)
  func checkWarmUp(calling provider: Provider, for context: UDIContext) throws {
    guard let warmUp = unsafe obtaining?.demand.warmUp else { return }
    try Task.checkCancellation()
    if let error = warmUp.failure(of: provider, for: context) { throw error }
  }
}
