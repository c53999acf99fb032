import Testing
import UDIInspector

@testable import UDI

/// Objects that outlive the context they are attached to, because it has been closed, still find what is above.
@Suite(.silent) struct ClosedLookupTests {
  let root = UDIContext(tag: "root")
  let service = Plain("root")

  init() { root.bind(service, as: (any Service).self) }

  private final class Screen: UDIObject {
    let _attachedContext = UDIAttachment()
    @Required var service: any Service
    func didAttachContext() {}
  }

  @Test func whatIsRequiredIsStillFound() async throws {
    let session = try root.makeScope(tag: "session")
    let screen = Screen().attached(to: session)
    try await session.close()
    #expect(screen.service === service)
  }

  @Test(arguments: [false, true]) func lookupsGoUpFromWhereTheContextWas(_ isInScope: Bool) async throws {
    let session = isInScope ? try root.makeScope(tag: "session") : try root.makeChild(tag: "session")
    let (own, below) = (Plain("own"), Plain("below"))
    session.bind(own, as: (any Other).self)
    let child = try session.makeChild(tag: "child")
    child.bind(below, as: (any Loose).self)
    root.register(Made.self, lifetime: .unique) { context in Made(parts: [try context.require((any Service).self)]) }
    let member = Member().attached(to: child)
    try await session.close()
    for context in [session, child] {
      #expect(context.link((any Service).self) === service)
      #expect(context.linkAll((any Service).self).count == 1)
      #expect(try await context.obtain((any Service).self) === service)
      #expect(try await context.linkWhenAvailable((any Service).self) === service)
      #expect(context.link(Made.self)?.parts.count == 1)
      // Nothing that was there is found, or anything below.
      #expect(context.link((any Other).self) == nil && context.link((any Loose).self) == nil)
      #expect(context.explain((any Service).self).cause.isFound)
      #expect(context.link((any Service).self, search: .local) == nil)
      #expect(context.link((any Service).self, search: .descendants) == nil)
      #expect(context.parent == nil && context.path.isEmpty && !context.removeFromParent())
    }
    #expect(member.linkInLine((any Service).self) === service)
    let error = #expect(throws: UDILinkError.self) { try child.require((any Loose).self) }
    #expect(error?.cause == .contextClosed(fullPath: ["child"]))
    #expect(error?.description.contains("Looked in \"child\" and below (.lineage), at one context:") == true)
    #expect(root.children.isEmpty && root.snapshot().contexts.count == 1)
  }

  // MARK: What a closed context had

  /// A late task of one tenant must not get another's, nor the root's.
  @Test(arguments: [false, true], UDISearch.allCases)
  func nothingTakesThePlaceOfWhatItHad(_ isInScope: Bool, _ search: UDISearch) async throws {
    for name in ["bound", "kept", "closed", "made", "scope"] { root.provide("root", named: UDIName(name)) }
    root.provide("root", named: "above")
    let tenant = isInScope ? try root.makeScope(tag: "tenant") : try root.makeChild(tag: "tenant")
    let own = Plain("own")
    tenant.bind(own, as: (any Service).self)
    tenant.provide("own", named: "kept")
    tenant.provide("own", named: "closed").onClose { _ in }
    tenant.register(String.self, named: "made") { "own" }
    tenant.register(String.self, named: "scope", lifetime: .scope) { "own" }
    let inner = try tenant.makeChild(tag: "inner").makeScope(tag: "innermost")
    inner.provide("inner", named: "above")
    let member = Member().attached(to: inner)
    try await tenant.close()
    for context in [tenant, inner] {
      #expect(context.link((any Service).self, search: search) == nil)
      for name in ["kept", "closed", "made", "scope"] {
        let name = UDIName(name)
        #expect(context.link(String.self, named: name, search: search) == nil)
        let error = #expect(throws: UDILinkError.self) {
          try context.require(String.self, named: name, search: search)
        }
        #expect(error?.cause == .contextClosed(fullPath: context.fullPath))
        #expect(context.explain(String.self, named: name, search: search).cause == error?.cause)
        await #expect(throws: UDILinkError.self) { try await context.obtain(String.self, named: name, search: search) }
      }
      let isAbove = search == .lineage || search == .ancestors
      #expect(context.link(String.self, named: "bound", search: search) == (isAbove ? "root" : nil))
    }
    #expect(member.linkInLine((any Service).self) == nil && member.linkInLine(String.self, named: "kept") == nil)
    // What one had, another may find.
    #expect(tenant.link(String.self, named: "above") == "root" && inner.link(String.self, named: "above") == nil)
    #expect(root.link((any Service).self) === service && root.link(String.self, named: "kept") == "root")
  }

  /// From the moment when closing begins, also for contexts below, which are closed before.
  @Test func whileItIsBeingClosed() async throws {
    root.provide("root", named: "made")
    root.provide("root", named: "gone")
    let tenant = try root.makeScope(tag: "tenant")
    let inner = try tenant.makeChild(tag: "inner")
    tenant.register(String.self, named: "made") { "own" }
    tenant.provide("own", named: "first").onClose { _ in
      for context in [tenant, inner] {
        #expect(context.link(String.self, named: "made") == nil && context.link(String.self, named: "gone") == nil)
        #expect(context.link(String.self, named: "first") == "own")
        await tenantRequest(below: context)
      }
    }
    @Sendable func tenantRequest(below context: UDIContext) async {
      try? await context.withScope(tag: "late") { #expect($0.link(String.self, named: "made") == nil) }
    }
    tenant.provide("own", named: "gone").onClose { _ in }
    try await tenant.close()
    await tenantRequest(below: tenant)
    await tenantRequest(below: inner)
  }

  /// It had nothing itself, and what is above it is closed later.
  @Test(arguments: [false, true]) func whileWhatIsAboveIsBeingClosed(_ hasKeys: Bool) async throws {
    root.provide("root")
    let tenant = try root.makeChild(tag: "tenant")
    let session = try tenant.makeScope(tag: "session")
    if hasKeys { session.provide(2.0) }
    tenant.register(String.self, lifetime: .unique) { "own" }
    try await session.close()
    #expect(session.link(String.self) == "own")
    tenant.provide(1).onClose { _ in #expect(session.link(String.self) == nil && tenant.link(String.self) == nil) }
    try await tenant.close()
    #expect(session.link(String.self) == nil)
  }

  /// What had been released or taken back before is not what the context had.
  @Test func whatWasGoneBefore() async throws {
    root.provide("root")
    let tenant = try root.makeScope(tag: "tenant")
    do { tenant.bind(Plain("dead"), as: (any Service).self) }
    tenant.register(String.self) { "own" }
    tenant.unregister(String.self)
    try await tenant.close()
    #expect(tenant.link((any Service).self) === service && tenant.link(String.self) == "root")
  }

  /// What is above is closed later, and had something, too.
  @Test func whatAScopeHadThatEndedAtOnceStaysAMiss() async throws {
    let ended = try await root.withScope(tag: "session") { scope in
      scope.provide(Plain("own"), as: (any Service).self)
      return scope
    }
    #expect(ended.link((any Service).self) == nil)
    #expect(root.link((any Service).self) === service)
  }

  @Test func contextsAboveThatHadIt() async throws {
    root.provide("root")
    root.provide(1)
    let tenant = try root.makeChild(tag: "tenant")
    tenant.provide("tenant")
    let session = try tenant.makeScope(tag: "session")
    session.provide(2)
    try await session.close()
    #expect(session.link(String.self) == "tenant" && session.link(Int.self) == nil)
    try await tenant.close()
    #expect(session.link(String.self) == nil && tenant.link(String.self) == nil)
    #expect(session.link(Int.self) == nil && tenant.link(Int.self) == 1)
    #expect(session.link((any Service).self) === service)
  }

  // MARK: What is above

  /// What is above may be closed, too, move, or go.
  @Test func contextsAboveThatEnd() async throws {
    let window = try root.makeChild(tag: "window")
    let session = try window.makeScope(tag: "session")
    let siblings = try (0..<3).map { try window.makeScope(tag: "\($0)") }
    let other = Plain("window")
    window.bind(other, as: (any Other).self)
    try await session.close()
    for sibling in siblings { try await sibling.close() }
    #expect(session.link((any Other).self) === other)
    let newRoot = UDIContext(tag: "new")
    try newRoot.addChild(window)
    #expect(session.link((any Service).self) == nil && session.link((any Other).self) === other)
    try root.addChild(window)
    try await window.close()
    for context in [session, window] + siblings {
      #expect(context.link((any Other).self) == nil && context.link((any Service).self) === service)
    }
    // Ends in another order than it began.
    let late = Plain()
    root.bind(late, as: (any Loose).self)
    #expect(siblings[1].link((any Loose).self) as? Plain === late)
  }

  @Test func contextsAboveThatGo() async throws {
    var top: UDIContext? = UDIContext(tag: "top")
    top?.provide(1)
    let scopes = try (0..<3).map { try top!.makeScope(tag: "\($0)") }
    for scope in scopes { try await scope.close() }
    #expect(scopes[1].link(Int.self) == 1)
    weak let reference = top
    top = nil
    #expect(reference == nil && scopes.allSatisfy { $0.link(Int.self) == nil })
  }

  /// The scope that the synchronous `withScope` gives.
  private nonisolated func lateScope(of context: UDIContext, search: UDISearch? = nil) -> UDIContext {
    context.withScope(tag: "late", search: search) { $0 }
  }

  /// Below a closed context, the synchronous `withScope` gives a closed scope, which finds what the context finds.
  @Test func aScopeBelowAClosedContext() async throws {
    let session = try root.makeScope(tag: "session")
    try await session.close()
    let (late, local) = (lateScope(of: session), lateScope(of: session, search: .local))
    #expect(late.link((any Service).self) === service && late.parent == nil)
    #expect(local.link((any Service).self) == nil && local.search == .local)
    let closing = try root.makeChild(tag: "closing")
    closing.provide(1).onClose { [service] _ in
      let scope = lateScope(of: closing)
      #expect(scope.link(Int.self) == 1 && scope.link((any Service).self) === service)
    }
    try await closing.close()
  }

  /// What is missing in a scope that was begun too late is missing because of the context that is closed.
  @Test func aScopeThatWasBegunTooLateNamesTheClosedContext() async throws {
    let app = try root.makeChild(tag: "app")
    app.register((any Other).self, lifetime: .scope) { Plain() }
    let path = ["root", "app"]
    @Sendable func expectClosed(_ path: [String]) async throws {
      // A request may make scopes of its own.
      let request = lateScope(of: app)
      for scope in [request, lateScope(of: request)] {
        let error = await #expect(throws: UDILinkError.self) { try await scope.obtain((any Other).self) }
        #expect(error?.cause == .contextClosed(fullPath: path))
        #expect(scope.explain((any Other).self).cause == .contextClosed(fullPath: path))
      }
    }
    // `close` waits for this closer, so `app` is being closed meanwhile.
    app.provide(1).onClose { _ in try await expectClosed(path) }
    try await app.close()
    try await expectClosed(["app"])
  }

  /// A scope that was begun too late still finds what is above the closed context, whoever has gone meanwhile.
  @Test func aScopeThatWasBegunTooLateOutlivesTheClosedContext() async throws {
    var app: UDIContext? = try root.makeChild(tag: "app")
    try await app?.close()
    let request = lateScope(of: app!)
    var kept = [request, lateScope(of: request)]
    for round in 0..<3 {
      for scope in kept {
        #expect(scope.link((any Service).self) === service)
        #expect(scope.explain((any Other).self).cause == .contextClosed(fullPath: ["app"]))
      }
      if round == 0 { app = nil } else { kept.removeFirst() }
    }
    withExtendedLifetime(app) {}
  }

  /// Closed contexts leave nothing behind.
  @Test func closedContextsThatGo() async throws {
    var held: [UDIContext] = []
    for number in 0..<30 {
      let scope = try root.makeScope(tag: "scope")
      try await scope.close()
      held.append(scope)
      if number % 3 == 2 { held.remove(at: number / 3) }
    }
    #expect(held.allSatisfy { $0.link((any Service).self) === service })
    held = []
    #expect(root.change { node, _ in node.treeLocked.extras?.lastClosed == nil })
  }

  @Test func aClosedContextCannotBeMoved() async throws {
    let session = try root.makeScope(tag: "session")
    try await session.close()
    #expect(throws: UDITreeError.self) { try root.addChild(session) }
    #expect(throws: UDITreeError.self) { try session.addChild(root) }
    #expect(root.find("session") == nil && !root.removeChild(session))
    _ = try root.makeScope(tag: "session")
  }
}

extension UDIExplanation.Cause {
  fileprivate var isFound: Bool { if case .found = self { true } else { false } }
}
