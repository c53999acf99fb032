/// What happens when an instance has been made, and what describes a registration.
extension UDIRegistration where Dependency: Sendable {
  /// Sets a closure that is called with each new instance, and with the context that its factory received.
  ///
  /// ```swift
  /// context.register(Parent.self) { Parent() }
  ///   .onCreate { context, parent in parent.child = context.link(Child.self) }
  /// ```
  ///
  /// The closure is called at the end of the outermost link, when everything that the link made can be looked up. Use
  /// it to make two objects refer to each other. If the instance is kept, other threads may get it before this call.
  /// With an asynchronous factory, the closure is called before any waiting task gets the instance. The closure is also
  /// called for instances that a context or `.weak` keeps already. That happens at once, or at the end of the link that
  /// is under way. If the closure belongs to an actor, it happens in a task on that actor.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this call is written. A function that belongs to no actor counts as the
  ///     main actor's if this is called in main-actor code. To let it run anywhere, pass nil.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - created: The closure. If it belongs to an actor, a synchronous factory's instances are made there, too.
  /// - Returns: The same registration, for chaining.
  /// - Precondition: This is the registration of a provider. If both its synchronous factory and the closure belong to
  ///   actors, they belong to the same actor. It has no other `onCreate`.
  /// - Complexity: O(instances that are kept); under ``UDILifetime/scope``, also O(contexts in the tree).
  @discardableResult
  public func onCreate(
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ created: @escaping @Sendable @isolated(any) (UDIContext, Dependency) -> Void
  ) -> UDIRegistration {
    let site = UDICallSite(fileID, line)
    return completing(created, .of(created.isolation, in: isolation, at: site), at: site)
  }
}

extension UDIRegistration {
  /// Does the same as the form for `Sendable` types on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor @discardableResult
  public func onCreate(
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ created: @escaping @isolated(any) (UDIContext, Dependency) -> Void
  ) -> UDIRegistration {
    let site = UDICallSite(fileID, line)
    return completing(created, .onMainActor(created.isolation, at: site), at: site)
  }

  /// Sets the metadata of the registration: any value by which it can be found.
  ///
  /// See ``UDIContext/registrations(of:search:)``. A later call replaces the value.
  ///
  /// - Parameter value: The metadata.
  /// - Returns: The same registration, for chaining.
  /// - Precondition: This is the registration of a provider.
  @discardableResult
  public func metadata(_ value: any Sendable) -> UDIRegistration {
    guard let provider = entry as? Provider else {
      fatalError("`metadata` was called on a binding, \(entry.key.description). `bind` takes metadata itself.")
    }
    // The old value is released after the lock.
    _ = Tree.change { _ in exchange(&provider.ensureExtras().metadata, with: value) }
    return self
  }

  private func completing(
    _ created: @escaping @isolated(any) (UDIContext, Dependency) -> Void, _ isolation: Isolation, at site: UDICallSite
  ) -> UDIRegistration {
    guard let provider = provider(for: "onCreate", at: site) else { return self }
    // A synchronous factory and the closure are called in the same place.
    let factory = provider.isAsynchronous ? nil : provider.isolation.actor
    let isolation = Isolation.of(isolation.actor, factory, in: nil, at: site)
    let plain = IsolatedFunction(function: created).isolationErased
    let function = { (context: UDIContext, instance: Instance) -> Void in
      if let dependency = instance.value(as: Dependency.self, isExact: false) { try? plain(context, dependency) }
    }
    provider.setCompletion((isolation, ActorOwned(function, by: isolation.owner(provider.reach))), at: site)
    return self
  }
}
