import Synchronization

/// The fast path for making an instance that only one link or graph uses. It does the same as `make` (see
/// `Provider+Making.swift`), but the factory writes the instance directly to memory of the lookup. Without the fast
/// path, the benchmarks ".unique, above a direct call", "a link with one argument, above a direct call" and "graph of
/// 21 links, 9 instances" would take longer.
extension Entry {
  /// Makes an instance on the fast path, if the entry is a `Factory` of exactly this type, without arguments, and makes
  /// a new instance for each link or graph.
  ///
  /// - Returns: False if no instance was made, for example because the graph already has one. The caller then calls
  ///   `obtain`.
  /// - Throws: `ProviderFailure`, or what the factory throws.
  @inline(__always)
  final func makeQuickly(
    for context: UDIContext, _ type: Any.Type, _ reach: UDIReach, into memory: InstanceMemory
  ) throws -> Bool {
    guard let resolution = try beginQuickly(for: context, type, reach) else { return false }
    let factory = unsafe unsafeDowncast(self, to: Factory.self)
    do { try factory.write(context, memory) } catch { throw factory.failQuickly(resolution, error, nil) }
    try factory.finishQuickly(context, resolution, type, memory, nil)
    return true
  }

  private final func beginQuickly(
    for context: UDIContext, _ type: Any.Type, _ reach: UDIReach
  ) throws -> Unretained<Resolution>? {
    if registered.isRefused(to: reach) { throw ProviderFailure.notSendable }
    guard isFactory(of: type) else { return nil }
    let provider = unsafe unsafeDowncast(self, to: Provider.self)
    // If the factory belongs to a different actor, `make` throws the error.
    guard provider.isQuick, !provider.isIsolated || provider.isolation.isHere, !WatchedRun.isWanted else { return nil }
    let resolution = PerThread.resolution
    if kind == .graphProvider, provider.mayShareWhatLookupsPass {
      // If the graph already has an instance, `obtain` finds it.
      if resolution.read({ $0.shares(provider.id) }) { return nil }
    }
    try resolution.read { try $0.push(provider, context, nil, isShared: false, isFresh: false) }
    return resolution
  }
}

extension Provider {
  /// Makes an instance from arguments on the fast path, if the provider is a `Factory` of exactly this type, and makes
  /// a new instance for each link.
  ///
  /// - Parameter arguments: If the factory was promised `Sendable` arguments, these must be `Sendable`.
  /// - Returns: False if no instance was made. The caller then calls `obtain`.
  /// - Throws: `ProviderFailure`, or what the factory throws.
  final func makeQuickly(
    for context: UDIContext, _ type: Any.Type, _ arguments: Arguments, isFresh: Bool, into memory: InstanceMemory
  ) throws -> Bool {
    guard isQuick, sharing == .unique, madeType == type, wanted != nil, let factory = self as? Factory,
      !isIsolated || isolation.isHere, !WatchedRun.isWanted
    else {
      return false
    }
    let resolution = PerThread.resolution
    try resolution.read { try $0.push(self, context, arguments, isShared: false, isFresh: isFresh) }
    do { try factory.write(context, arguments, memory) } catch { throw failQuickly(resolution, error, arguments) }
    try finishQuickly(context, resolution, type, memory, arguments)
    return true
  }

  /// Whether the graph might share an instance of this provider that `answerFromGraph` passes over: a value, or an
  /// object that has to be cast. False if the provider is known to make only objects that need no cast.
  @inline(__always)
  fileprivate final var mayShareWhatLookupsPass: Bool {
    !plainClass.load(ordering: .relaxed).isInFirstWord || !makesExactType
  }

  /// Ends a factory call that has written an instance, or nil, to the memory.
  ///
  /// - Throws: `ProviderFailure.returnedNil` if the memory contains nil.
  @inline(__always)
  fileprivate final func finishQuickly(
    _ context: UDIContext, _ resolution: Unretained<Resolution>, _ type: Any.Type, _ memory: InstanceMemory,
    _ arguments: Arguments?
  ) throws {
    if unsafe finishAtOnce(resolution, UnsafeRawPointer(memory.address)) { return }
    func finish<Dependency>(_ type: Dependency.Type) throws {
      guard let found = memory.read(as: type) else {
        throw failQuickly(resolution, ProviderFailure.returnedNil, arguments)
      }
      finishQuickly(context, resolution, found)
    }
    try _openExistential(type, do: finish)
  }

  /// Ends a factory call in the most frequent case: the memory contains an instance of the same class as the previous
  /// one, and objects of this class take no part in the tree.
  ///
  /// - Parameter memory: Memory that contains the instance, or nil.
  /// - Returns: Whether the call has been ended.
  @inline(__always)
  private final func finishAtOnce(_ resolution: Unretained<Resolution>, _ memory: UnsafeRawPointer) -> Bool {
    let known = plainClass.load(ordering: .relaxed)
    guard known.isInFirstWord else { return false }
    // The memory contains a reference or nil; otherwise `isInFirstWord` would be false.
    let address = unsafe memory.load(as: UInt.self)
    guard address != 0 else { return false }
    let object = unsafe Unretained<AnyObject>(address: address)
    guard known.isClass(of: object) else { return false }
    if kind == .graphProvider {
      func size<Dependency>(_ type: Dependency.Type) -> Int { MemoryLayout<Dependency>.size }
      let form = unsafe StoredForm(references: memory, size: _openExistential(madeType, do: size))
      resolution.read { $0.share(object.object, form, self) }
    }
    resolution.read { $0.pop() }
    return true
  }

  private final func finishQuickly<Dependency>(
    _ context: UDIContext, _ resolution: Unretained<Resolution>, _ found: Dependency
  ) {
    guard let form = StoredForm.of(found, as: Dependency.self), form.isComplete else {
      let call = FactoryCall(arguments: nil, resolution: resolution)
      return finish(call, for: context, Instance(found)) { outcome in
        guard kind == .graphProvider, case .made(let instance) = outcome else { return }
        resolution.read { $0.share(instance, self, nil) }
      }
    }
    if !isPlain(form) {
      attach(form.borrowed.object, to: context, isOwned: false)
      forgetFailure()
    }
    if kind == .graphProvider { resolution.read { $0.share(form.object, form, self) } }
    resolution.read { $0.pop() }
  }

  /// Ends a factory call that has failed.
  ///
  /// - Returns: The error to throw.
  fileprivate final func failQuickly(
    _ resolution: Unretained<Resolution>, _ error: any Error, _ arguments: Arguments?
  ) -> any Error {
    noteFailure(error, arguments)
    resolution.read { $0.pop() }
    return passOn(error)
  }
}
