import UDI

protocol Numbered: AnyObject, Sendable {}
extension Host: Numbered {}

/// Registers a factory that takes an argument.
func registerNumbered(in context: UDIContext) {
  context.register((any Numbered).self) { (_, _: Int) in Host() }
}

// MARK: - A scope that owns three instances, and uses two of the context above

private protocol First: AnyObject, Sendable {}
private protocol Second: AnyObject, Sendable {}
private protocol Third: AnyObject, Sendable {}
extension Host: First, Second, Third {}

/// Makes a scope in a context that has a `Service` and an `Owned`, makes three instances there, and ends the scope.
@inline(never)
func useScope(of parent: UDIContext) -> Bool {
  guard let scope = try? parent.makeScope(tag: "scope") else { fatalError("two scopes with one tag") }
  scope.register((any First).self, lifetime: .context) { Host() }
  scope.register((any Second).self, lifetime: .context) { Host() }
  scope.register((any Third).self, lifetime: .context) { Host() }
  let hasMade =
    scope.link((any First).self) != nil && scope.link((any Second).self) != nil && scope.link((any Third).self) != nil
  let hasFound = scope.link((any Service).self) != nil && scope.link((any Owned).self) != nil
  parent.removeChild(scope)
  return hasMade && hasFound
}

private protocol ScopedFirst: AnyObject, Sendable {}
private protocol ScopedSecond: AnyObject, Sendable {}
private protocol ScopedThird: AnyObject, Sendable {}
extension Host: ScopedFirst, ScopedSecond, ScopedThird {}

/// Registers three factories once for all scopes.
func registerForScopes(in context: UDIContext) {
  context.register((any ScopedFirst).self, lifetime: .scope) { Host() }
  context.register((any ScopedSecond).self, lifetime: .scope) { Host() }
  context.register((any ScopedThird).self, lifetime: .scope) { Host() }
}

/// Does the same as `useScope` with factories that the context has.
@inline(never)
func useScopeOfRegistered(in parent: UDIContext) -> Bool {
  guard let scope = try? parent.makeScope(tag: "scope") else { fatalError("two scopes with one tag") }
  let hasMade =
    scope.link((any ScopedFirst).self) != nil && scope.link((any ScopedSecond).self) != nil
    && scope.link((any ScopedThird).self) != nil
  let hasFound = scope.link((any Service).self) != nil && scope.link((any Owned).self) != nil
  parent.removeChild(scope)
  return hasMade && hasFound
}

// MARK: - A request: a scope with an asynchronous service

private protocol ScopedLater: AnyObject, Sendable {}
extension Host: ScopedLater {}

/// Registers an asynchronous factory once for all scopes.
func registerForRequests(in context: UDIContext) {
  context.register((any ScopedLater).self, lifetime: .scope) { () async in Host() }
}

/// Makes a scope, obtains its service, and closes it.
@inline(never)
func useRequest(in parent: UDIContext) async throws {
  try await parent.withScope(tag: "request") { scope in _ = try await scope.obtain((any ScopedLater).self) }
}

// MARK: - A graph of 21 links: one instance on top takes four, each of which takes the same four

protocol Top: AnyObject, Sendable {}
private protocol Middle0: AnyObject, Sendable {}
private protocol Middle1: AnyObject, Sendable {}
private protocol Middle2: AnyObject, Sendable {}
private protocol Middle3: AnyObject, Sendable {}
private protocol Bottom0: AnyObject, Sendable {}
private protocol Bottom1: AnyObject, Sendable {}
private protocol Bottom2: AnyObject, Sendable {}
private protocol Bottom3: AnyObject, Sendable {}

private final class Leaf: Bottom0, Bottom1, Bottom2, Bottom3 {}

private final class Inner: Middle0, Middle1, Middle2, Middle3 {
  let parts: (any Bottom0, any Bottom1, any Bottom2, any Bottom3)
  init(_ a: any Bottom0, _ b: any Bottom1, _ c: any Bottom2, _ d: any Bottom3) { parts = (a, b, c, d) }
}

private final class Outer: Top {
  let parts: (any Middle0, any Middle1, any Middle2, any Middle3)
  init(_ a: any Middle0, _ b: any Middle1, _ c: any Middle2, _ d: any Middle3) { parts = (a, b, c, d) }
}

/// Registers the graph by closures that look everything up.
func registerGraph(in context: UDIContext) {
  context.register((any Bottom0).self, lifetime: .graph) { Leaf() }
  context.register((any Bottom1).self, lifetime: .graph) { Leaf() }
  context.register((any Bottom2).self, lifetime: .graph) { Leaf() }
  context.register((any Bottom3).self, lifetime: .graph) { Leaf() }
  let inner: @Sendable (UDIContext) throws -> Inner = { context in
    try Inner(context.require(), context.require(), context.require(), context.require())
  }
  context.register((any Middle0).self, lifetime: .graph) { try inner($0) }
  context.register((any Middle1).self, lifetime: .graph) { try inner($0) }
  context.register((any Middle2).self, lifetime: .graph) { try inner($0) }
  context.register((any Middle3).self, lifetime: .graph) { try inner($0) }
  context.register((any Top).self, lifetime: .graph) { context in
    try Outer(context.require(), context.require(), context.require(), context.require())
  }
}
