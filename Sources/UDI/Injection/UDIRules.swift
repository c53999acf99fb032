/// The rules of a context for one type of object.
///
/// Rules say which properties of an object to fill, and with which dependencies.
///
/// Rules are for objects that cannot, or should not, look up their dependencies themselves:
///
/// ```swift
/// context.rules(for: Report.self)
///   .inject(\.clock)
///   .inject(\.printer, named: "office")
///   .inject { report, context in report.title = context.tag }
/// context.inject(into: report)
/// ```
///
/// Several rules can apply to one object: rules for its class, for its superclasses, and for protocols that its class
/// conforms to. `inject(into:)` applies the rules of its context and of all contexts above; the outermost context's
/// rules come first.
public struct UDIRules<Target>: Sendable {
  fileprivate let context: UDIContext
  /// `.anywhere` if the compiler knew that `Target` is `Sendable`; otherwise `.mainActor`.
  fileprivate let reach: UDIReach

  /// - Parameter isOnMainActor: Whether the rule is applied only on the main actor.
  private func add(isOnMainActor: Bool, _ apply: @escaping (Target, UDIContext) -> Bool) -> UDIRules {
    // If the target is a protocol that is `Sendable`, the object has to be, too: an `any P` passes a cast to `any P &
    // Sendable`. If the target is a class, the cast decides: each object that passes it is `Sendable` if the class is.
    let isForSendable = reach == .anywhere && !(Target.self is AnyClass)
    let rule: Rule = { object, reach, context in
      if isForSendable, reach == .mainActor { return false }
      if isOnMainActor, !runsOnMainActor { return false }
      // The cast is from `Any`, because only such a cast checks whether the conformance may be used on this actor.
      return (object as? Target).map { apply($0, context) } ?? false
    }
    context.change { node, garbage in
      if node.treeLocked.state != .open {
        let what = "rules for \(describeType(Target.self))"
        return node.reportClosed("inject", of: what, at: UDICallSite("", 0), &garbage)
      }
      node.treeLocked.ensureExtras().rules.append(rule)
    }
    return self
  }

  /// Adds a rule that fills a property.
  ///
  /// - Parameters:
  ///   - property: An optional property. It is read once before it is set. If the dependency is missing, the property
  ///     stays as it is.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction of the search; by default that of the context in which the rule is applied.
  /// - Returns: The rules, for chaining.
  @discardableResult
  public func inject<Dependency: Sendable>(
    _ property: any ReferenceWritableKeyPath<Target, Dependency?> & Sendable, named name: UDIName? = nil,
    search: UDISearch? = nil
  ) -> UDIRules {
    let request = LookupRequest(Dependency.self, .anywhere, named: name, search: search)
    return add(isOnMainActor: false) { Self.fill(property, of: $0, by: request, from: $1) }
  }

  /// Adds a rule that fills a property and is applied only on the main actor.
  ///
  /// The property and the dependency can belong to the main actor.
  ///
  /// - Parameters:
  ///   - property: An optional property. It is read once before it is set. If the dependency is missing, the property
  ///     stays as it is.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction of the search; by default that of the context in which the rule is applied.
  /// - Returns: The rules, for chaining.
  @available(swift, introduced: 6) @MainActor @discardableResult
  public func inject<Dependency>(
    _ property: ReferenceWritableKeyPath<Target, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIRules { injectOnMainActor(property, named: name, search: search) }

  /// Adds a rule that fills a property on the main actor, in the Swift 5 language mode.
  ///
  /// In modules in that mode, code without isolation can call this form, too.
  ///
  /// - Parameters:
  ///   - property: An optional property. It is read once before it is set. If the dependency is missing, the property
  ///     stays as it is.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction of the search; by default that of the context in which the rule is applied.
  /// - Returns: The rules, for chaining.
  @available(swift, obsoleted: 6) @preconcurrency @MainActor @discardableResult
  public func inject<Dependency>(
    _ property: consuming ReferenceWritableKeyPath<Target, Dependency?>, named name: UDIName? = nil,
    search: UDISearch? = nil
  ) -> UDIRules {
    // Without `@preconcurrency`, the Swift 5 mode would refuse calls from code without isolation. With
    // `@preconcurrency`, the Swift 6 mode would only warn about such calls, but should refuse them. So each mode has a
    // form of its own. The compiler requires the two signatures to differ: hence `consuming`.
    injectOnMainActor(property, named: name, search: search)
  }

  /// Adds a rule that calls a block, which can fill any properties of the object.
  ///
  /// If the block was written in main-actor code, the rule is applied only on the main actor.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this call is written. A function that belongs to no actor counts as the
  ///     main actor's if it is passed in main-actor code. To let it run anywhere, pass nil for `isolation`.
  ///   - block: Called with the object, and the context in which the rule is applied.
  /// - Returns: The rules, for chaining.
  /// - Precondition: The block belongs to the main actor or to no actor.
  @discardableResult
  public func inject(
    isolation: (any Actor)? = #isolation,
    @_inheritActorContext _ block: @escaping @Sendable @isolated(any) (Target, UDIContext) -> Void
  ) -> UDIRules {
    let owner = Isolation.of(block.isolation, in: isolation, at: UDICallSite("", 0))
    if owner.actor != nil, !owner.isMainActor {
      fatalError(
        """
        the block given to `inject` belongs to \(owner.name), but an object is filled without waiting for an actor. \
        Write it in main-actor code, or in a nonisolated function, so that it belongs to no actor.
        """)
    }
    let apply = ActorOwned(IsolatedFunction(function: block).isolationErased, by: owner.actor)
    return add(isOnMainActor: owner.isMainActor) {
      try? apply.value($0, $1)
      return true
    }
  }

  private func injectOnMainActor<Dependency>(
    _ property: ReferenceWritableKeyPath<Target, Dependency?>, named name: UDIName?, search: UDISearch?
  ) -> UDIRules {
    UDIReach.mainActor.assertIsolation(Dependency.self)
    // The key path might contain arguments of a subscript, which need not be `Sendable`.
    let property = ActorOwned(property, by: MainActor.shared)
    let request = LookupRequest(Dependency.self, .mainActor, named: name, search: search)
    return add(isOnMainActor: true) { Self.fill(property.value, of: $0, by: request, from: $1) }
  }

  /// Fills a property if the lookup finds something. Call this only where the rule may be applied.
  ///
  /// - Returns: Whether the lookup has found something, so that `inject(into:)` counts the property.
  // This method is static, because a closure that captured these rules would hold their context, and the context holds
  // the closure.
  private static func fill<Dependency>(
    _ property: ReferenceWritableKeyPath<Target, Dependency?>, of target: Target, by request: LookupRequest,
    from context: UDIContext
  ) -> Bool {
    guard let found: Dependency = context.lookUp(request) else { return false }
    return property.store(found, in: target)
  }
}

extension UDIContext {
  /// Returns the rules for a class, or for all classes that conform to a protocol.
  ///
  /// Add further rules with `inject`.
  ///
  /// - Parameter type: The class, or a class-bound protocol: `(any Printing).self`.
  /// - Returns: The rules.
  public func rules<Target: Sendable>(for type: Target.Type) -> UDIRules<Target> {
    UDIRules(context: self, reach: .anywhere)
  }

  /// Returns the rules for a class or a protocol that is not `Sendable`.
  ///
  /// - Parameter type: The class, or a class-bound protocol: `(any Printing).self`.
  /// - Returns: The rules.
  public func rules<Target>(for type: Target.Type) -> UDIRules<Target> { UDIRules(context: self, reach: .mainActor) }

  /// Applies the rules of this context and of all contexts above it to a `Sendable` object.
  ///
  /// The outermost context's rules come first. The dependencies are looked up from this context.
  ///
  /// Off the main actor, rules that belong to the main actor are skipped.
  ///
  /// - Parameter object: The object.
  /// - Returns: The number of rules that were applied: properties that were filled, and blocks that were called.
  /// - Complexity: O(levels, and rules of this context and of the contexts above it).
  @discardableResult
  public func inject(into object: any AnyObject & Sendable) -> Int { applyRules(to: object, .anywhere) }

  /// Applies rules, on the main actor, to an object that the compiler does not know to be `Sendable`.
  ///
  /// Rules for a protocol that is `Sendable` are skipped. In all other respects, this form does the same as the one for
  /// `Sendable` objects.
  ///
  /// The rules can give the object dependencies that belong to the main actor, so the object must stay there.
  ///
  /// - Parameter object: The object.
  /// - Returns: The number of rules that were applied: properties that were filled, and blocks that were called.
  /// - Complexity: O(levels, and rules of this context and of the contexts above it).
  @preconcurrency @MainActor @discardableResult
  public func inject(into object: AnyObject) -> Int {
    UDIReach.mainActor.assertIsolation(type(of: object))
    return applyRules(to: object, .mainActor)
  }

  private func applyRules(to object: AnyObject, _ reach: UDIReach) -> Int {
    let levels = change { node, _ in node.andAncestors.compactMap { $0.treeLocked.extras?.rules } }
    return levels.reversed().joined().count { apply in apply(object, reach, self) }
  }
}

/// A type-erased rule: applies itself to an object of its type, if it may be applied here. Returns whether a property
/// was filled or a block was called. The reach says whether the compiler knows that the object is `Sendable`.
typealias Rule = (Any, UDIReach, UDIContext) -> Bool

extension Node { typealias Rules = [Rule] }
