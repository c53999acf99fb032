/// The rules of a context for one type of object: which of their properties are to be filled, and with what.
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
/// Rules add up: those for one type, those for a class and for its superclass, those for the protocols that a class conforms to,
/// and those of a context and of all above it, the outermost context's first.
public struct UDIRules<Target> {
  // Not `Sendable`, though what it holds is: with that the compiler would only warn of the `@preconcurrency` form of `inject` off the main
  // actor, and now it refuses it. Nobody need hand rules on: `rules(for:)` gives them anywhere.

  private let context: UDIContext
  /// Whether the compiler knew `Target` to be `Sendable`. A rule for `any P & Sendable` must not be given an `any P`.
  private let reach: Reach

  fileprivate init(_ context: UDIContext, _ reach: Reach) {
    self.context = context
    self.reach = reach
  }

  private func add(isOnMainActor: Bool, _ apply: @escaping (Target, UDIContext) -> Bool) -> UDIRules {
    let rule = Rule(reach, isOnMainActor: isOnMainActor) { object, context in
      // From `Any`, which also asks whether the conformance can be used here.
      guard let target = object as? Target else { return false }
      return apply(target, context)
    }
    context.change { node, _ in
      if node.isInert { return }
      let book = node.rules ?? RuleBook()
      book.rules.append(rule)
      node.rules = book
    }
    return self
  }
}

extension UDIRules {
  /// Adds a property that is to be filled.
  ///
  /// - Parameters:
  ///   - property: An optional property; it is read once before it is set. Where the dependency is missing it is left as it is.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction to take; by default that of the context that the rule is applied in.
  /// - Returns: The same rules, to go on with.
  @discardableResult
  public func inject<Dependency: Sendable>(
    _ property: any ReferenceWritableKeyPath<Target, Dependency?> & Sendable, named name: UDIName? = nil,
    search: UDISearch? = nil
  ) -> UDIRules {
    add(isOnMainActor: false) { Self.fill($0, property, $1, name, .anywhere, search) }
  }

  /// Adds a property that is to be filled, where it or the dependency belongs to the main actor; the rule is applied there only.
  ///
  /// - Parameters:
  ///   - property: An optional property; it is read once before it is set. Where the dependency is missing it is left as it is.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction to take; by default that of the context that the rule is applied in.
  /// - Returns: The same rules, to go on with.
  @preconcurrency @MainActor
  @discardableResult
  public func inject<Dependency>(
    _ property: ReferenceWritableKeyPath<Target, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIRules {
    Reach.mainActor.assertIsolation(Dependency.self)
    // The path may hold a subscript's arguments.
    let property = ActorOwned(onMainActor: property)
    return add(isOnMainActor: true) { Self.fill($0, property.value, $1, name, .mainActor, search) }
  }

  /// Adds a block that fills what it wants. One that was written in main-actor code is applied on the main actor only.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor, and is given in main-actor code, counts as the
  ///     main actor's; pass nil if it can be called anywhere.
  ///   - block: Gets the object, and the context that the rule is applied in.
  /// - Returns: The same rules, to go on with.
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

  // Static: a closure that held these rules would hold their context, which holds the closure.
  private static func fill<Dependency>(
    _ target: Target, _ property: ReferenceWritableKeyPath<Target, Dependency?>, _ context: UDIContext,
    _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) -> Bool {
    guard let found = context.lookUp(Dependency.self, name, reach, search) else { return false }
    // Keeps the old value alive until the write is over: its `deinit` may touch the property.
    let old = target[keyPath: property]
    target[keyPath: property] = found
    withExtendedLifetime(old) {}
    return true
  }
}

extension UDIContext {
  /// Begins or goes on with the rules for a class, or for all classes that conform to a protocol.
  ///
  /// - Parameter type: The class; or the protocol, which is bound to classes: `(any Printing).self`.
  /// - Returns: The rules, to add to.
  public func rules<Target: Sendable>(for type: Target.Type) -> UDIRules<Target> { UDIRules(self, .anywhere) }

  /// Begins or goes on with the rules for a class, or for a protocol, that is not `Sendable`; otherwise the same.
  ///
  /// - Parameter type: The class; or the protocol, which is bound to classes: `(any Printing).self`.
  /// - Returns: The rules, to add to.
  public func rules<Target>(for type: Target.Type) -> UDIRules<Target> { UDIRules(self, .mainActor) }

  /// Applies the rules of this context and of all above it to a `Sendable` object, the outermost context's first. What they need is
  /// looked up from this context.
  ///
  /// Rules of the main actor are left out elsewhere. Set-up blocks of these contexts run before.
  ///
  /// - Parameter object: The object.
  /// - Returns: How many of the rules were applied: properties that were filled, and blocks that were called.
  /// - Complexity: O(levels, and rules of this context and of those above it).
  @discardableResult
  public func inject(into object: any AnyObject & Sendable) -> Int { applyRules(to: object, .anywhere) }

  /// Applies the rules of this context and of all above it to an object that is not `Sendable`, on the main actor; otherwise the same.
  ///
  /// The object may get what belongs to the main actor, and so has to stay there.
  ///
  /// - Parameter object: The object.
  /// - Returns: How many of the rules were applied: properties that were filled, and blocks that were called.
  /// - Complexity: O(levels, and rules of this context and of those above it).
  @preconcurrency @MainActor
  @discardableResult
  public func inject(into object: AnyObject) -> Int {
    Reach.mainActor.assertIsolation(type(of: object))
    return applyRules(to: object, .mainActor)
  }

  private func applyRules(to object: AnyObject, _ reach: Reach) -> Int {
    withNode { $0.runPendingSetUps(self, .ancestors, for: nil) }
    let levels = change { node, garbage -> [[Rule]] in
      var levels: [[Rule]] = []
      var next: Node? = node
      while let current = next {
        if let book = current.rules { levels.append(book.rules) }
        next = current.parent
      }
      return levels
    }
    let isOnMainActor = MainActorCheck.isOnMainActor
    return levels.reversed().joined().count { rule in
      (isOnMainActor || !rule.isOnMainActor) && (reach == .anywhere || rule.reach == .mainActor)
        && rule.apply(object, self)
    }
  }
}

/// A rule, without its type.
final class Rule: @unchecked Sendable {
  // Unchecked: constants; where the closure may run is what `isOnMainActor` says.
  let isOnMainActor: Bool
  /// Whether its target is `Sendable`, as far as the compiler knew.
  let reach: Reach
  /// Applies the rule if the object is of its type, and says whether it filled something.
  let apply: (Any, UDIContext) -> Bool

  init(_ reach: Reach, isOnMainActor: Bool, _ apply: @escaping (Any, UDIContext) -> Bool) {
    self.reach = reach
    self.isOnMainActor = isOnMainActor
    self.apply = apply
  }
}

/// The rules of a context: behind a reference, because few contexts have some.
final class RuleBook: @unchecked Sendable {
  // Unchecked: guarded by the tree lock.
  var rules: [Rule] = []
}
