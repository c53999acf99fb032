/// How tasks make an instance for `obtain`: with an asynchronous factory, or with an initialiser whose parameters have
/// to be obtained.
extension Provider {
  /// Returns the instance that a keeper keeps. If there is none, makes it, or waits for whoever is making it.
  ///
  /// - Parameter graph: The graph that shares the instance; nil if the provider keeps it.
  @inline(never)
  nonisolated(nonsending) final func shared(
    _ demand: Demand, _ key: ArgumentKey?, in graph: Graph?
  ) async throws -> OwnedInstance? {
    while true {
      switch try claim(demand, key, in: graph) {
      case .found(let instance): return OwnedInstance(instance, reach)
      case .gone, .make: return nil
      case .wait(let creation, let number):
        if let made = try await creation.waitForOutcome(number).get() { return made }
      }
    }
  }

  /// Finds the instance, or the creation that is making it. If there is neither, starts a creation.
  private final func claim(_ demand: Demand, _ key: ArgumentKey?, in graph: Graph?) throws -> Claim {
    let context = demand.context
    // The call on whose behalf this task asks. Like any other asker, it only waits; the new call gets an activity of
    // its own.
    let asker = AsyncCall.current
    let keeper = try graph?.keeper(of: self, key) ?? self.keeper(for: key, asking: context)
    if let stored = keeper.custom?.load() { return .found(stored) }
    if Task.isCancelled { throw CancellationError() }
    let claim = try keeper.claim(for: context, by: .task(asker, through: []), isPreparing: !isAsynchronous)
    guard case .make(let new, let waiter) = claim else { return claim }
    guard let creation = new as? AsyncCreation, let waiter else {
      preconditionFailure("a task begins a creation that it waits for")
    }
    let owner = creation.owner ?? context
    creation.start { [self] in
      do {
        try creation.beginFactory()
        // Another task might have stored an instance since this one asked the storage.
        if let stored = keeper.custom?.load() {
          keeper.end(creation, .success(nil))
          return .success(OwnedInstance(stored, reach))
        }
        // An instance that is kept has its own graph. So has one whose graph has ended in the meantime.
        let present = graph?.unlessEnded
        let own = present ?? Graph()
        defer { if present == nil { own.end() } }
        let call = try AsyncCall(self, for: owner, with: key, in: own, beginning: creation, askedBy: asker)
        // The parameters share a graph that no other task uses.
        return .success(
          try await make(
            demand.for(owner, in: graph == nil ? Graph() : demand.graph), as: call, for: (keeper, creation)))
      } catch {
        keeper.end(creation, .failure(error))
        return .failure(error)
      }
    }
    return .wait(creation, waiter)
  }

  /// Obtains the parameters of an initialiser, and then makes an instance, as a part of a call, which ends with that.
  nonisolated(nonsending) final func make(
    _ demand: Demand, as call: AsyncCall, for place: Place?
  ) async throws -> OwnedInstance? {
    defer { call.end() }
    return try await AsyncCall.$current.withValue(call) {
      if let error = demand.warmUp?.failure(of: self, for: demand.context) { throw error }
      var parameters: [OwnedInstance?] = []
      if let reach = reachOfParameters, let types = parameterTypes(in: demand.context) {
        if isRecording { demand.context.recordLookups() }
        do {
          parameters = try await demand.parameters(types, reach, on: reach == .mainActor ? MainActor.shared : nil)
        } catch { throw fail(error, with: nil, for: demand.context, in: demand.warmUp) }
      }
      return try await make(demand, with: parameters, as: call, for: place)
    }
  }

  /// Whether the parameters that have been obtained for an initialiser may be used: nothing has been reset or replaced
  /// meanwhile.
  ///
  /// - Parameter place: The keeper and the creation; nil if only the caller gets the instance.
  final func isStillWanted(for place: Place?) -> Bool {
    Tree.change { _ in
      guard let (keeper, creation) = place else { return node != nil }
      return keeper.creation === creation || keeper.preparation === creation
    }
  }

  /// Whether a context owns the provider's instances.
  final var owns: Bool { sharing == .strong || sharing == .scope }

  /// The context that will own the new instance, or the one that asks, if the provider does not keep its instances. Nil
  /// if there is none.
  package final func owner(asking context: UDIContext) -> UDIContext? {
    if !keeps { return context }
    return context.change { asker, _ in (sharing == .scope ? owner(around: asker).scope : node)?.context }
  }
}

/// A parameter of an initialiser, from the instance that was obtained for it.
func parameter<Parameter>(_ type: Parameter.Type, _ obtained: OwnedInstance?) -> Parameter {
  // Each instance has exactly the type that was asked for, so neither cast can fail.
  if TypeMetadata(type).isOptional, let optional = type as? any AnyOptional.Type {
    return unsafe (optional.wrap(obtained?.value) as? Parameter).unsafelyUnwrapped
  }
  return unsafe obtained.unsafelyUnwrapped.value.exact()
}
