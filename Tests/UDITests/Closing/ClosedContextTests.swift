import Testing
import UDI
import UDIInspector

/// Every use of a closed context is a miss, or an error that says so.
@MainActor @Suite struct ClosedContextTests {
  nonisolated static let ways = ScopeTests.ways

  private func closedFamily() async throws -> ScopeTests.Family {
    let family = try ScopeTests.Family()
    try await family.root.close()
    return family
  }

  @Test("Nothing is found, by any way and with any search", arguments: ways)
  func nothingIsFound(_ way: ScopeTests.Way) async throws {
    let family = try await closedFamily()
    for context in [family.root, family.scope, family.inside] {
      for search in [nil] + UDISearch.allCases { #expect(try await !way.finds(context, search)) }
    }
  }

  @Test func errorsAndExplanationsSayClosed() async throws {
    let context = try await closedFamily().scope
    let closed = UDIExplanation.Cause.contextClosed(fullPath: ["scope"])
    let missing = #expect(throws: UDILinkError.self) { try context.require((any Service).self) }
    #expect(missing?.cause == closed && missing?.description.contains("closed") == true)
    #expect(context.explain((any Service).self).cause == closed)
    await #expect(throws: UDILinkError.self) { try await context.obtain((any Service).self) }
    let awaited = await #expect(throws: UDILinkError.self) { try await context.linkWhenAvailable((any Service).self) }
    #expect(awaited?.cause == closed)
    let member = Member().attached(to: context)
    let asked = #expect(throws: UDILinkError.self) { try member.require((any Service).self) }
    #expect(asked?.cause == closed && asked?.chain.count == 2)
    #expect(member.linkInLine((any Service).self) == nil)
    await #expect(throws: UDILinkError.self) { try await member.linkWhenAvailable((any Service).self) }
    var updates = context.updates(of: (any Service).self).makeAsyncIterator()
    #expect(await updates.next() == nil)
  }

  struct Use: CustomTestStringConvertible {
    let testDescription: String
    let use: @MainActor (UDIContext) async -> Void
    init(_ verb: String, _ use: @escaping @MainActor (UDIContext) async -> Void) {
      (testDescription, self.use) = (verb, use)
    }
  }

  @Test func reportsNameTheVerb() async throws {
    let context = UDIContext(tag: "context")
    try await context.close()
    let verbs = [
      ("bind", { context.bind(Plain(), as: (any Service).self) }),
      ("multiBind", { context.multiBind(Plain(), as: (any Service).self) }),
      ("register", { context.register((any Service).self) { Plain() } }),
      ("provide", { context.provide(Plain(), as: (any Service).self) }),
    ]
    for (verb, use) in verbs {
      let reports = MisuseLog.during(use).1
      #expect(reports.map(\.kind) == [.contextClosed])
      #expect(reports.first?.message.hasPrefix("\(verb) did nothing") == true, "\(reports)")
    }
  }

  @Test("`withScope` throws, and its operation does not run")
  func lateScope() async throws {
    let context = UDIContext(tag: "context")
    try await context.close()
    let error = await #expect(throws: UDITreeError.self) {
      try await context.withScope(tag: "late") { _ in Issue.record("the operation runs") }
    }
    #expect(error == .closed(["context"], child: ["late"], parent: ["context"]))
  }

  @Test("The synchronous `withScope` says that its scope is closed, since its operation runs")
  func closedScope() async throws {
    let context = UDIContext(tag: "context")
    try await context.close()
    func late() -> Bool { context.withScope(tag: "late") { _ in true } }
    let (hasRun, reports) = MisuseLog.during(late)
    #expect(hasRun && reports.first?.message.hasPrefix("withScope made a closed scope, because") == true, "\(reports)")
  }

  private struct Module: UDIModule {
    func register(in context: UDIContext) { Issue.record("it is not asked") }
  }

  private final class Target { var service: (any Service)? }

  /// What adds something to a context.
  nonisolated static let uses = [
    Use("bind") { $0.bind(Plain(), as: (any Service).self) },
    Use("multiBind") { $0.multiBind(Plain(), as: (any Service).self) },
    Use("bind by an object") { Member().attached(to: $0).bind(Plain(), as: (any Service).self) },
    Use("register") {
      $0.register((any Service).self, lifetime: .context) {
        Plain()
      }.onClose { _ in
      }
    },
    Use("register with arguments") { $0.register((any Service).self) { (_, _: Int) in Plain() } },
    Use("register using") { $0.register((any Service).self, using: Plain.init(_:)) },
    Use("provide") { $0.provide(Plain(), as: (any Service).self) },
    Use("install") { $0.install(Module()) },
    Use("inject") { $0.rules(for: Target.self).inject(\.service) },
    Use("withScope") { context in
      func synchronously() {
        context.withScope(tag: "late") { scope in
          #expect(scope.isScope && scope.link((any Service).self) == nil && scope.parent == nil)
        }
      }
      synchronously()
    },
  ]

  @Test("What would add something does nothing, and reports that the context is closed", arguments: uses)
  func nothingIsAdded(_ use: Use) async throws {
    let context = UDIContext(tag: "context")
    try await context.close()
    let (_, complaints) = await MisuseLog.during { await use.use(context) }
    #expect(complaints.map(\.kind) == [.contextClosed] && complaints[0].message.contains("closed"), "\(complaints)")
    #expect(context.link((any Service).self) == nil && context.snapshot().contexts.count == 1)
    #expect(context.snapshot().contexts[0].entries.isEmpty)
    try await context.close()
  }

  @Test func theTreeRefusesIt() async throws {
    let (root, context) = (UDIContext(tag: "root"), UDIContext(tag: "context"))
    try await context.close()
    #expect(throws: UDITreeError.closed(["context"], child: ["context"], parent: ["root"])) {
      try root.addChild(context)
    }
    let error = #expect(throws: UDITreeError.self) { try context.addChild(root) }
    #expect(error == .closed(["context"], child: ["root"], parent: ["context"]))
    #expect(error?.description.contains("closed") == true)
    #expect(throws: UDITreeError.self) { try context.makeChild(tag: "child") }
    #expect(throws: UDITreeError.self) { try context.makeScope(tag: "child") }
    #expect(root.children.isEmpty && !context.removeFromParent() && !context.removeChild(root))
  }

  @Test func whatWasThereIsGone() async throws {
    let (root, service, census) = (UDIContext(tag: "root"), Plain(), Census())
    let context = try root.makeChild(tag: "context")
    let child = try context.makeChild(tag: "child")
    child.bind(service, as: (any Service).self)
    let registration = child.register((any Alpha).self, lifetime: .context) { Made("a", census) }
    let member = Member().attached(to: child)
    member.bind(member, as: (any Other).self)
    #expect(root.link((any Service).self) === service && root.link((any Alpha).self) != nil)
    var updates = child.updates(of: (any Service).self).makeAsyncIterator()
    #expect(await updates.next() != nil)
    let waiting = Task { try await child.linkWhenAvailable((any Gamma).self) }
    await settle([child])
    try await context.close()
    #expect(root.link((any Service).self) == nil && root.link((any Alpha).self) == nil)
    #expect(root.link((any Other).self) == nil && census.alive == 0 && registration.context == nil)
    #expect(root.children.isEmpty && context.children.isEmpty && child.parent == nil)
    #expect(await updates.next() == nil)
    await #expect(throws: UDILinkError.self) { try await waiting.value }
    // The object can be used elsewhere.
    root.bind(service, as: (any Service).self)
    member.attachedContext = root
    member.bind(member, as: (any Other).self)
    #expect(root.link((any Service).self) === service && root.link((any Other).self) === member)
  }

  @Test func anInertContextCanBeClosed() async throws {
    let context = UDIContext.makeInert()
    let child = try context.makeChild(tag: "child")
    try await context.close()
    let (_, complaints) = MisuseLog.during { child.bind(Plain(), as: (any Service).self) }
    #expect(complaints.map(\.kind) == [.contextClosed])
  }
}
