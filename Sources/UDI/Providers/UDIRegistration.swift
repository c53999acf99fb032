/// A registration of a dependency in a context: a binding or a provider.
///
/// `register` and `provide` return one, and ``UDIContext/registrations(of:search:)`` lists them. A registration keeps
/// neither an instance nor a context alive.
public struct UDIRegistration<Dependency>: Sendable, CustomStringConvertible {
  let entry: Entry
  /// Where the caller that got this registration may use the dependency: anywhere if the compiler knew that
  /// `Dependency` is `Sendable`, and on the main actor only if it did not. Even in the first case, the dependency might
  /// have been registered under a type that is not `Sendable`, because `any P` and `any P & Sendable` are the same key.
  let askedReach: UDIReach
  /// Refers weakly to the context that has listed the registration; nil if the registration was returned by the call
  /// that made it.
  var lister: WeakEntry?

  /// The key of the registration. The key of a type that is not `Sendable` belongs to the main actor.
  @preconcurrency @MainActor public var key: UDIKey<Dependency> { UDIKey(named: entry.key.name) }

  /// The lifetime of the provider's instances; nil for a binding.
  public var lifetime: UDILifetime? { (entry as? Provider)?.lifetime }

  /// The metadata that `metadata(_:)` has set, or that was passed to `bind`.
  public var metadata: (any Sendable)? { entry.metadata }

  /// The line of the call that made the registration, counted from 1.
  package var line: Int { entry.site.line }

  /// The context that contains the registration.
  ///
  /// Nil if the registration was taken back or replaced, if the context is closed or released, or if nothing was
  /// registered.
  public var context: UDIContext? { Tree.change { _ in entry.node?.context } }

  /// The context for which the dependency is looked up: the one that has listed the registration, as `linkAll` would
  /// find it from there, or else the one that contains the registration.
  private var asker: UDIContext? { context.map { lister?.object as? UDIContext ?? $0 } }

  /// The key, the kind and the place of the registration:
  /// `provider (context) of Shop.Store, registered at Shop/Wiring.swift:12`.
  public var description: String {
    let (key, place) = (entry.key.description, "\(entry.site.fileID):\(line)")
    guard let lifetime else { return "binding of \(key), bound at \(place)" }
    return "provider (\(lifetime)) of \(key), registered at \(place)"
  }

  // MARK: - Taking back

  /// Takes the registration back, and releases the instances that its provider keeps.
  ///
  /// If another registration has replaced this one, the other one stays.
  ///
  /// - Returns: Whether the registration was taken back; false if it was no longer in its context, or if the context is
  ///   being closed.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func unregister() -> Bool {
    Tree.change { garbage in
      guard let node = entry.node, node.treeLocked.state != .closing else { return false }
      if let provider = entry as? Provider { node.unregister(provider, &garbage) } else { entry.withdraw(&garbage) }
      return true
    }
  }

  // MARK: - Serving other types

  /// Makes the provider's instances available under another type or name, too, whatever the lifetime.
  ///
  /// Whether an instance is of the other type is checked when the instance is looked up under it. To have the compiler
  /// check it, or to return a different object, register a factory that asks for the instance:
  /// `register((any Reader).self) { context in try context.require(Store.self) }`.
  ///
  /// - Parameters:
  ///   - type: The other type.
  ///   - name: The name to find the instances under, if any.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The same registration, for chaining.
  /// - Precondition: This is the registration of a provider. A live instance can be bound under the other type instead.
  @discardableResult
  public func implements<Other: Sendable>(
    _ type: Other.Type, named name: UDIName? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration {
    // An instance of a `Sendable` class may be used anywhere, even if it was registered under a type that is not
    // `Sendable`. For a protocol, this is not guaranteed.
    let reach = type is AnyClass ? .anywhere : entry.reach
    return serve(RegisterRequest(type, reach, name, nil, nil, nil, fileID, line))
  }

  /// Makes the provider's instances available under another type, too, which is not `Sendable`.
  ///
  /// In all other respects, this form does the same as the one for `Sendable` types.
  ///
  /// - Parameters:
  ///   - type: The other type.
  ///   - name: The name to find the instances under, if any.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The same registration, for chaining.
  /// - Precondition: This is the registration of a provider. A live instance can be bound under the other type instead.
  @discardableResult
  public func implements<Other>(
    _ type: Other.Type, named name: UDIName? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration {
    // Even if the instance is `Sendable`, its conformance to the other type might belong to the main actor.
    return serve(RegisterRequest(type, .mainActor, name, nil, nil, nil, fileID, line))
  }

  private func serve(_ request: consuming RegisterRequest) -> UDIRegistration {
    guard let target = provider(for: "implements", at: request.site) else { return self }
    // The instances might be found under this key already. The type is then the same, or differs only in marker
    // protocols, as `any P & Sendable` differs from `any P`.
    let other = TypeToken.of(request.type).key(named: request.name)
    if entry.key === other || target.key === other { return self }
    // The next line stops the program if the instances are made on one actor, but may be cast only on another one.
    let mainActor = request.reach == .mainActor || target.reach == .mainActor ? MainActor.shared : nil
    let isolation = Isolation.of(mainActor, target.isolation.actor, in: nil, at: request.site)
    request.lifetime = target.lifetime.kind
    let alias = Alias(request, isolation: isolation, of: target)
    Tree.change { garbage in
      guard let node = target.node else { return }
      guard node.treeLocked.state == .open else { return node.refuse(alias, "implements", &garbage) }
      target.ensureExtras().aliases.append(alias)
      node.register(alias, &garbage)
    }
    return self
  }

  /// Whether the instances are made as exactly this type. Those of an alias may not even convert to it.
  var makesExactType: Bool { (entry as? Provider)?.maker.madeType == Dependency.self }

  /// The provider that makes the instances; nil if the caller may not use them, because they might not be `Sendable`,
  /// although the caller asked for them as if they were. This has been reported.
  ///
  /// - Precondition: This is not the registration of a binding.
  func provider(for verb: String, at site: UDICallSite) -> Provider? {
    guard let provider = (entry as? Provider)?.maker else {
      fatalError("\(site.fileID):\(site.line): `\(verb)` was called on a binding; it works only for providers.")
    }
    guard entry.registered.isRefused(to: askedReach) else { return provider }
    let explanation = UDIExplanation(Dependency.self, named: entry.key.name, search: .local, cause: .notSendable)
    UDIReporter.current.report(
      .notMade, [explanation.summary, explanation.advice].compactMap(\.self).joined(separator: " "), at: site)
    return nil
  }

  // MARK: - The dependency

  /// Returns the dependency of this registration, which need not be `Sendable`, on the main actor.
  ///
  /// - Returns: The bound instance, or the instance that the provider keeps or makes. Nil if there no longer is one, or
  ///   if it cannot be made.
  @preconcurrency @MainActor
  public func link() -> Dependency? { give(.mainActor) }

  /// Returns the dependency of this registration, which need not be `Sendable`, on the main actor.
  ///
  /// In all other respects, this form does the same as the one for `Sendable` types.
  @preconcurrency @MainActor
  public func obtain() async throws -> Dependency { try await obtain(.mainActor) }

  nonisolated(nonsending) private func obtain(_ reach: UDIReach) async throws -> Dependency {
    if !(entry is Provider), let bound = give(reach) { return bound }
    let request = LookupRequest(Dependency.self, reach, named: entry.key.name, search: .local)
    guard let asker, let made = try await Demand(context: asker, request: request).obtain(entry: entry) else {
      throw UDILinkError(UDIExplanation(request.type, named: request.name, search: .local, cause: .notRegistered))
    }
    // The instance is of exactly this type: see `Demand.obtain(entry:)`.
    return made.exact()
  }

  private func give(_ reach: UDIReach) -> Dependency? {
    reach.assertIsolation(Dependency.self)
    if entry is Provider { return asker?.give(entry, LookupRequest(Dependency.self, reach, search: .local)) }
    if entry.registered.isRefused(to: reach) { return nil }
    let bound = Tree.change { garbage in entry.node == nil ? nil : entry.liveObject(&garbage) }
    // The cast fails if the object was bound as a different type with the same name, and is not of this one.
    return bound as? Dependency
  }
}

// MARK: - Listing

extension UDIContext {
  /// Returns the registrations under the given type, whatever their names, without making any instance.
  ///
  /// If you ask one of them to make an instance, it makes the instance for this context, as `linkAll` would.
  ///
  /// ```swift
  /// let fast = context.registrations(of: (any Codec).self).filter { $0.metadata as? Speed == .high }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live bindings and the providers, in search order. Within one context, a binding comes before the
  ///   provider under the same key.
  /// - Complexity: The same as ``UDILinking/linkAll(_:search:fileID:line:)``.
  public func registrations<Dependency: Sendable>(
    of type: Dependency.Type, search: UDISearch? = nil
  ) -> [UDIRegistration<Dependency>] { registrations(of: type, search, .anywhere) }

  /// Returns the registrations under a type that is not `Sendable`.
  ///
  /// This form does the same as the one for `Sendable` types and, like that one, can be called from anywhere.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live bindings and the providers, in search order. Within one context, a binding comes before the
  ///   provider under the same key.
  /// - Complexity: The same as ``UDILinking/linkAll(_:search:fileID:line:)``.
  public func registrations<Dependency>(
    of type: Dependency.Type, search: UDISearch? = nil
  ) -> [UDIRegistration<Dependency>] { registrations(of: type, search, .mainActor) }

  private func registrations<Dependency>(
    of type: Dependency.Type, _ search: UDISearch?, _ reach: UDIReach
  ) -> [UDIRegistration<Dependency>] {
    withNode { node in
      let found = node.registrations(of: .of(type), search)
      // Only a root has to store the reference to its context. A parent holds its children's contexts, and stores the
      // reference in a child's node when it loses the child.
      change { node, _ in if node.parent == nil { node.remember(self) } }
      let lister = WeakEntry(StoredForm(address: Unretained(self).address, words: (0, 0), wordCount: 0))
      return found.map { UDIRegistration(entry: $0, askedReach: reach, lister: lister) }
    }
  }
}

extension UDIRegistration where Dependency: Sendable {
  /// The key of the registration.
  public var key: UDIKey<Dependency> { UDIKey(named: entry.key.name) }

  /// Returns the dependency of this registration, even if a lookup would find a different one.
  ///
  /// - Returns: The bound instance, or the instance that the provider keeps or makes. Nil if there no longer is one, or
  ///   if it cannot be made.
  public func link() -> Dependency? { give(.anywhere) }

  /// Returns the dependency of this registration, even if a lookup would find a different one.
  ///
  /// If it has to be made, the call waits for it, as ``UDILinking/obtain(_:named:search:fileID:line:)`` does.
  ///
  /// - Returns: The bound instance, or the instance that the provider keeps or makes.
  /// - Throws: ``UDILinkError`` if there no longer is one, or if it cannot be made; `CancellationError` if the current
  ///   task is cancelled while it waits; or the error that the factory throws.
  nonisolated(nonsending) public func obtain() async throws -> Dependency { try await obtain(.anywhere) }
}
