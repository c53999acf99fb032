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
    #expect(error?.description.contains("Looked in \"child\", below and above (.lineage), at 2 contexts:") == true)
    #expect(root.children.isEmpty && root.snapshot().contexts.count == 1)
  }

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

  /// Below a closed context, `withScope` gives a closed scope, which finds what the context finds.
  @Test func aScopeBelowAClosedContext() async throws {
    let session = try root.makeScope(tag: "session")
    try await session.close()
    await session.withScope(tag: "view") { #expect($0.link((any Service).self) === service && $0.parent == nil) }
    await session.withScope(tag: "view", search: .local) {
      #expect($0.link((any Service).self) == nil && $0.search == .local)
    }
    let closing = try root.makeChild(tag: "closing")
    closing.provide(1).onClose { [service] _ in
      await closing.withScope(tag: "view") { scope in
        #expect(scope.link(Int.self) == 1 && scope.link((any Service).self) === service)
      }
    }
    try await closing.close()
  }

  /// What is missing in a scope that was begun too late is missing because of the context that is closed.
  @Test func aScopeThatWasBegunTooLateNamesTheClosedContext() async throws {
    let app = try root.makeChild(tag: "app")
    app.register((any Other).self, lifetime: .scope) { Plain() }
    let path = ["root", "app"]
    @Sendable func expectClosed(_ path: [String]) async {
      await app.withScope(tag: "request") { request in
        // A request may make scopes of its own.
        await request.withScope(tag: "part") { part in
          for scope in [request, part] {
            let error = await #expect(throws: UDILinkError.self) { try await scope.obtain((any Other).self) }
            #expect(error?.cause == .contextClosed(fullPath: path))
            #expect(scope.explain((any Other).self).cause == .contextClosed(fullPath: path))
          }
        }
      }
    }
    // `close` waits for this closer, so `app` is being closed meanwhile.
    app.provide(1).onClose { _ in await expectClosed(path) }
    try await app.close()
    await expectClosed(["app"])
  }

  /// A scope that was begun too late still finds what is above the closed context, whoever has gone meanwhile.
  @Test func aScopeThatWasBegunTooLateOutlivesTheClosedContext() async throws {
    var app: UDIContext? = try root.makeChild(tag: "app")
    try await app?.close()
    var kept: [UDIContext] = []
    await app?.withScope(tag: "request") { request in
      kept.append(request)
      await request.withScope(tag: "part") { kept.append($0) }
    }
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
