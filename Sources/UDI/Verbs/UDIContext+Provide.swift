/// Giving a context a dependency that exists already. Each verb has two forms: see `UDILinking+Bind.swift`.
extension UDIContext {
  /// Gives the context a dependency to own: a value, or an object that nothing else needs to hold.
  ///
  /// ```swift
  /// request.provide(logger)
  /// request.provide(session, as: (any Session).self)
  /// ```
  ///
  /// The context keeps the dependency until the context is closed or released, the registration is taken back, or
  /// another one replaces it here under the same key. The registration behaves like a provider with the lifetime
  /// `.context` that has already made its instance, except that ``reset(_:)`` does not drop the instance. A live
  /// binding under the same key takes precedence. An object that takes part in the tree and is not attached yet is
  /// attached to this context. Give such an object to one context only, and `bind` it in others.
  ///
  /// - Parameters:
  ///   - value: The dependency.
  ///   - type: The type to register the dependency under; by default the type of `value`.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func provide<Dependency: Sendable>(
    _ value: Dependency, as type: Dependency.Type = Dependency.self, named name: UDIName? = nil,
    replaces: Bool? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Dependency> {
    provide(value, RegisterRequest(type, .anywhere, name, .context, replaces, nil, fileID, line))
  }

  /// Gives the context a dependency that is not `Sendable`, for the context to own.
  ///
  /// Call this on the main actor. In all other respects, this form does the same as the one for `Sendable` types.
  ///
  /// - Parameters:
  ///   - value: The dependency.
  ///   - type: The type to register the dependency under; by default the type of `value`.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @preconcurrency @MainActor @discardableResult
  public func provide<Dependency>(
    _ value: Dependency, as type: Dependency.Type = Dependency.self, named name: UDIName? = nil,
    replaces: Bool? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Dependency> {
    provide(value, RegisterRequest(type, .mainActor, name, .context, replaces, nil, fileID, line))
  }

  func provide<Dependency>(_ value: Dependency, _ request: borrowing RegisterRequest) -> UDIRegistration<Dependency> {
    let provider = Factory(request, nil, FactoryFunction { _ -> Dependency? in value })
    provider.isOfProvided = true
    add(provider, Instance(value))
    return UDIRegistration(entry: provider, askedReach: provider.reach)
  }

  /// Registers a provider together with an instance, as if the provider had already made it. If the instance takes part
  /// in the tree, attaches it.
  func add(_ provider: Provider, _ instance: Instance) {
    let member = instance.isBox ? nil : provider.member(instance.object, for: self)
    // The property is read while no lock is held, because the object's class implements it.
    let attachment = member?._attachedContext
    var (isTaken, isNew) = (false, false)
    // Registering and attaching are a single step, for three reasons. If the provider is not registered, its instance
    // must not be attached. The instance must not be found before it is attached. And `didAttachContext` may already
    // look the instance up.
    add(provider, "provide") { garbage in
      isTaken = true
      provider.shown = InstanceEntry(instance, provider, isWeak: false)
      isNew = attachment?.attach(providedBy: provider, instance.object, to: self, isOwned: true, &garbage) ?? false
    }
    if !isTaken {
      let refused = (OwnedInstance(instance, provider.reach), fullPath)
      change { node, _ in if node.treeLocked.state != .open { provider.ensureExtras().refused = refused } }
    }
    guard isNew else { return }
    if let attachment, Node.fillRequired(instance.object, attachment, at: provider.site) { member?.didAttachContext() }
  }
}
