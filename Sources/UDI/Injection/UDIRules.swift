/// The rules of a context for one type of object: which properties to fill, and with what.
///
/// Rules are for objects that cannot, or should not, ask for their dependencies themselves:
///
/// ```swift
/// context.rules(for: Report.self)
///   .inject(\.clock)
///   .inject(\.printer, named: "office")
///   .inject { report, context in report.title = context.tag }
/// context.inject(into: report)
/// ```
///
/// Several rules can apply to one object: those for its class and for its superclasses, those for the protocols that
/// the class conforms to, and those of a context and of all contexts above it, the outermost context's first.
public struct UDIRules<Target> {
  // This is not `Sendable`, although what it holds is. If it were, the compiler would only warn when the
  // `@preconcurrency` form of `inject` is used off the main actor; as it is, the compiler refuses that. Nobody needs to
  // pass rules to another thread, because `rules(for:)` can be called anywhere.

  private let context: UDIContext
  /// Whether the compiler knew that `Target` is `Sendable`. A rule for `any P & Sendable` must not receive an `any P`.
  private let reach: Reach

  fileprivate init(_ context: UDIContext, _ reach: Reach) {
    self.context = context
    self.reach = reach
  }

  private func add(isOnMainActor: Bool, _ apply: @escaping (Target, UDIContext) -> Bool) -> UDIRules {
    let rule = Rule(reach: reach, isOnMainActor: isOnMainActor) { object, context in
      // The cast is from `Any`, because such a cast also checks whether the conformance can be used on this actor.
      guard let target = object as? Target else { return false }
      return apply(target, context)
    }
    context.change { node, garbage in
      if node.treeLocked.state != .open {
        return node.reportClosed("inject", "rules for \(TypeIdentity.of(Target.self).text)", CallSite("", 0), &garbage)
      }
      node.treeLocked.ensureExtras().rules.append(rule)
    }
    return self
  }
}

extension UDIRules {
  /// Adds a property to fill.
  ///
  /// - Parameters:
  ///   - property: An optional property. It is read once before it is set. If the dependency is missing, the property
  ///     stays as it is.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context that the rule is applied in.
  /// - Returns: The same rules, so that calls can be chained.
  @discardableResult
  public func inject<Dependency: Sendable>(
    _ property: any ReferenceWritableKeyPath<Target, Dependency?> & Sendable, named name: UDIName? = nil,
    search: UDISearch? = nil
  ) -> UDIRules {
    add(isOnMainActor: false) { Self.fill($0, property, $1, name, .anywhere, search) }
  }

  /// Adds a property to fill, if the property or the dependency belongs to the main actor. The rule is applied only on
  /// the main actor.
  ///
  /// - Parameters:
  ///   - property: An optional property. It is read once before it is set. If the dependency is missing, the property
  ///     stays as it is.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context that the rule is applied in.
  /// - Returns: The same rules, so that calls can be chained.
  @preconcurrency @MainActor
  @discardableResult
  public func inject<Dependency>(
    _ property: ReferenceWritableKeyPath<Target, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIRules {
    Reach.mainActor.assertIsolation(Dependency.self)
    // The key path might hold arguments of a subscript, which need not be `Sendable`.
    let property = ActorOwned(onMainActor: property)
    return add(isOnMainActor: true) { Self.fill($0, property.value, $1, name, .mainActor, search) }
  }

  /// Adds a block that can fill any properties of the object. A block that was written in main-actor code is applied
  /// only on the main actor.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor, but is passed in
  ///     main-actor code, counts as belonging to the main actor; pass nil if it can be called anywhere.
  ///   - block: Receives the object, and the context in which the rule is applied.
  /// - Returns: The same rules, so that calls can be chained.
  /// - Precondition: The block belongs to the main actor or to none.
  @discardableResult
  public func inject(
    isolation: (any Actor)? = #isolation,
    @_inheritActorContext _ block: @escaping @Sendable @isolated(any) (Target, UDIContext) -> Void
  ) -> UDIRules {
    let apply = IsolatedBlock(block).isolationErased
    guard let actor = Isolation.ofBlock(block.isolation, in: isolation, "inject").actor else {
      return add(isOnMainActor: false) {
        apply($0, $1)
        return true
      }
    }
    let owned = ActorOwned(apply, by: actor)
    return add(isOnMainActor: true) {
      owned.value($0, $1)
      return true
    }
  }

  // This is static because a closure that captured these rules would hold their context, and the context holds the
  // closure.
  private static func fill<Dependency>(
    _ target: Target, _ property: ReferenceWritableKeyPath<Target, Dependency?>, _ context: UDIContext,
    _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) -> Bool {
    guard let found = context.lookUp(Dependency.self, name, reach, search) else { return false }
    // This keeps the old value alive until the write is over, because its `deinit` may touch the property.
    let old = target[keyPath: property]
    target[keyPath: property] = found
    withExtendedLifetime(old) {}
    return true
  }
}

extension UDIContext {
  /// Returns the rules for a class, or for all classes that conform to a protocol, so that you can add to them.
  ///
  /// - Parameter type: The class, or a class-bound protocol: `(any Printing).self`.
  /// - Returns: The rules.
  public func rules<Target: Sendable>(for type: Target.Type) -> UDIRules<Target> { UDIRules(self, .anywhere) }

  /// The same for a class or a protocol that is not `Sendable`.
  ///
  /// - Parameter type: The class, or a class-bound protocol: `(any Printing).self`.
  /// - Returns: The rules.
  public func rules<Target>(for type: Target.Type) -> UDIRules<Target> { UDIRules(self, .mainActor) }

  /// Applies the rules of this context and of all contexts above it to a `Sendable` object, the outermost context's
  /// first. The dependencies are looked up from this context.
  ///
  /// The set-up blocks of these contexts run first. Off the main actor, rules that belong to the main actor are
  /// skipped.
  ///
  /// - Parameter object: The object.
  /// - Returns: How many rules were applied: properties that were filled, and blocks that were called.
  /// - Complexity: O(levels, and rules of this context and of the contexts above it).
  @discardableResult
  public func inject(into object: any AnyObject & Sendable) -> Int { applyRules(to: object, .anywhere) }

  /// The same for an object that is not `Sendable`, on the main actor.
  ///
  /// The object might receive dependencies that belong to the main actor, so it has to stay there.
  ///
  /// - Parameter object: The object.
  /// - Returns: How many rules were applied: properties that were filled, and blocks that were called.
  /// - Complexity: O(levels, and rules of this context and of the contexts above it).
  @preconcurrency @MainActor
  @discardableResult
  public func inject(into object: AnyObject) -> Int {
    Reach.mainActor.assertIsolation(type(of: object))
    return applyRules(to: object, .mainActor)
  }

  private func applyRules(to object: AnyObject, _ reach: Reach) -> Int {
    withNode { $0.runPendingSetUps(self, .ancestors, for: nil) }
    let levels = change { node, garbage -> [[Rule]] in
      node.andAncestors.compactMap { $0.treeLocked.extras?.rules }
    }
    let isOnMainActor = MainActorCheck.isOnMainActor
    return levels.reversed().joined().count { rule in
      (isOnMainActor || !rule.isOnMainActor) && (reach == .anywhere || rule.reach == .mainActor)
        && rule.apply(object, self)
    }
  }
}

/// A rule, without its type.
struct Rule {
  /// Whether the compiler knew that the target is `Sendable`.
  let reach: Reach
  /// Whether `apply` may run on the main actor only.
  let isOnMainActor: Bool
  /// Applies the rule if the object is of its type, and returns whether it was applied.
  let apply: (Any, UDIContext) -> Bool
}
