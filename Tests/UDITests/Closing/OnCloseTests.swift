import Testing

@testable import UDI

/// Not `Sendable`, so it stays on the main actor.
private protocol Window: AnyObject {}
private final class Pane: Window {
  var isOpen = true
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  deinit { journal.add("released, main actor: \(runsOnMainActor)") }
}
private struct Loosely {
  var label: String
}

@globalActor private actor Keeper { static let shared = Keeper() }

/// `onClose`: which closures there can be, where they run, and what is reported if they do not.
@Suite struct OnCloseTests {
  private static let own = UDILifetime("own")

  /// The first run of the factory resets the context, and links what then stays.
  @Test func whatWasResetWhileItWasMadeIsDroppedAndItsSuccessorIsClosed() async throws {
    let (context, journal, runs) = (UDIContext(tag: "context"), Journal(), Tally())
    context.register((any Alpha).self) { context in
      runs.add()
      if runs.count > 1 { return Made("second") }
      context.reset()
      _ = context.link((any Alpha).self)
      return Made("first")
    }.onClose {
      journal.add(($0 as? Made)?.label ?? "")
    }
    let (made, reports) = MisuseLog.during { context.link((any Alpha).self) as? Made }
    #expect(made?.label == "first" && reports.map(\.kind) == [.unclosed])
    #expect((context.link((any Alpha).self) as? Made)?.label == "second")
    try await context.close()
    #expect(journal.all == ["second"])
  }

  /// The closure gets the instance as the type of the alias, or is not called, which is an error.
  @Test func aliases() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    context.register(Made.self) { Made("converts") }.implements((any Alpha).self)
    context.register(Plain.self) { Plain("does not convert") }.implements((any Beta).self)
    let (alpha, beta) = (context.registrations(of: (any Alpha).self), context.registrations(of: (any Beta).self))
    try #require(alpha.first).onClose { journal.add(($0 as? Made)?.label ?? "") }
    try #require(beta.first).onClose { _ in journal.add("called") }
    _ = (context.link(Made.self), context.link(Plain.self))
    let error = await #expect(throws: UDICloseError.self) { try await context.close() }
    #expect(journal.all == ["converts"] && error?.failures.map(\.typeName) == ["UDITests.Plain"])
    #expect((error?.failures.first?.error as? UDILinkError)?.cause == .notConvertible(from: "UDITests.Plain"))
  }

  private enum Caller { @TaskLocal static var name = "nobody" }

  @Test func itHasTheTaskLocalValuesOfWhoCloses() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    context.provide(1).onClose { _ in journal.add(Caller.name) }
    try await Caller.$name.withValue("first") {
      try await context.withScope(tag: "scope") { scope in
        scope.provide(2).onClose { _ in journal.add(Caller.name) }
        Caller.$name.withValue("inside") { _ = scope.link(Int.self) }
      }
    }
    try await Caller.$name.withValue("second") { try await context.close() }
    #expect(journal.all == ["first", "second"])
  }

  // MARK: The forms

  /// Every form of `register` and `provide`, with a closure that runs anywhere.
  @Test func allForms() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    let close: @Sendable (any Alpha) async throws -> Void = { journal.add(($0 as? Made)?.label ?? "") }
    context.register((any Alpha).self, named: "1", lifetime: .context) { _ in
      Made("1")
    }.onClose {
      try await close($0)
    }
    context.register((any Alpha).self, named: "2", lifetime: .context) {
      Made("2")
    }.onClose {
      try await close($0)
    }
    context.register((any Alpha).self, named: "3", lifetime: .context) {
      Made("3")
    }.onCreate { _, _ in
      journal.add("created")
    }.onClose {
      try await close($0)
    }
    context.register((any Alpha).self, named: "4", lifetime: .context) { (_, label: String) in
      Made(label)
    }.onClose {
      try await close($0)
    }
    context.register((any Alpha).self, named: "5", lifetime: .context) { (_, label: String) in
      Made(label)
    }.onCreate { _, _ in
      journal.add("created")
    }.onClose {
      try await close($0)
    }
    context.register(String.self) { "6" }
    context.register(
      (any Alpha).self, named: "6", lifetime: .context, using: { (label: String) in Made(label) }
    )
    .onClose { try await close($0) }
    context.register(
      (any Alpha).self, named: "7", lifetime: .context, using: { (label: String) in Made("7" + label) }
    ).onCreate { _, _ in
      journal.add("created")
    }.onClose {
      try await close($0)
    }
    context.provide(Made("8"), as: (any Alpha).self, named: "8").onClose { try await close($0) }
    context.provide(9).onClose { journal.add("\($0)") }
    for name in ["1", "2", "3", "6", "7"] { _ = try context.require((any Alpha).self, named: UDIName(name)) }
    for name in ["4", "5"] { _ = try context.require((any Alpha).self, named: UDIName(name), with: name) }
    try await context.close()
    #expect(journal.all == ["created", "created", "created", "9", "8", "76", "6", "5", "4", "3", "2", "1"])
  }

  @Test func whatWasNeverMadeIsNotClosed() async throws {
    let context = UDIContext(tag: "context")
    context.register((any Alpha).self, lifetime: .context) {
      Made()
    }.onClose { _ in
      Issue.record("closed")
    }
    _ = context.link((any Alpha).self, fresh: true)
    try await context.close()
  }

  // MARK: Where closures run

  @Test func closuresRunOnTheirActors() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    context.provide(1).onClose { @Keeper _ in
      Keeper.shared.assertIsolated()
      journal.add("keeper")
    }
    context.provide("2").onClose { @MainActor _ in
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
      journal.add("main")
    }
    context.register((any Alpha).self, lifetime: Self.own) {
      Made()
    }.onClose { @Keeper _ in
      Keeper.shared.assertIsolated()
      journal.add("made")
    }
    await MainActor.run {
      _ = context.provide(3.0).onClose { _ in
        MainActor.assertIsolated()
        journal.add("inherited")
      }
    }
    _ = context.link((any Alpha).self)
    try await context.close()
    #expect(journal.all == ["inherited", "made", "main", "keeper"])
  }

  /// The instances, and what the closures capture, are released on the main actor too.
  @Test func whatIsNotSendableStaysOnTheMainActor() async throws {
    let journal = Journal()
    let context = await makeMainActorContext(journal)
    try await Task.detached { try await context.close() }.value
    await MainActor.run {}
    #expect(
      journal.all.filter { !$0.hasPrefix("released") }
        == ["provided true", "struct second", "struct first", "using true", "made true"])
    for _ in 0..<1000 where journal.all.count < 9 { await MainActor.run {} }
    #expect(journal.all.filter { $0.hasPrefix("released") } == Array(repeating: "released, main actor: true", count: 4))
  }

  @MainActor private func makeMainActorContext(_ journal: Journal) -> UDIContext {
    let context = UDIContext(tag: "context")
    let captured = Pane(journal)
    context.register((any Window).self, lifetime: .context) {
      Pane(journal)
    }.onClose { window in
      MainActor.assertIsolated()
      await Task.yield()
      journal.add("made \(captured.isOpen && window !== captured)")
    }
    context.register(
      Pane.self, named: "using", lifetime: .context, using: { (_: (any Alpha)?) in Pane(journal) }
    )
    .onClose { pane in journal.add("using \(pane.isOpen)") }
    context.register(Loosely.self, lifetime: .context) { (_, label: String) in
      Loosely(label: label)
    }.onClose {
      journal.add("struct \($0.label)")
    }
    _ = context.link((any Window).self)
    _ = context.link(Pane.self, named: "using")
    context.provide(Pane(journal), as: Pane.self).onClose { pane in journal.add("provided \(pane.isOpen)") }
    _ = context.link(Loosely.self, with: "first")
    _ = context.link(Loosely.self, with: "second")
    return context
  }

  // MARK: Lifetimes

  @Test(arguments: [UDILifetime.context, own])
  func lifetimesThatOwnAreClosed(_ lifetime: UDILifetime) async throws {
    let (context, census, journal) = (UDIContext(tag: "context"), Census(), Journal())
    context.defaultLifetime = lifetime
    context.register((any Alpha).self) {
      Made("a", census)
    }.onClose {
      journal.add(($0 as? Made)?.label ?? "")
    }
    let held = context.link((any Alpha).self)
    #expect(try context.require((any Alpha).self) === held)
    try await context.close()
    #expect(journal.all == ["a"] && census.alive == 1)
    withExtendedLifetime(held) {}
  }

  @Test func lifetimesUnderWhichNothingIsOwnedAreRefused() async {
    await #expect(processExitsWith: .failure) {
      UDIContext(tag: "context").register((any Alpha).self, lifetime: .unique) {
        Made()
      }.onClose { _ in
      }
    }
    await #expect(processExitsWith: .failure) {
      UDIContext(tag: "context").register((any Alpha).self, lifetime: .graph) {
        Made()
      }.onClose { _ in
      }
    }
    await #expect(processExitsWith: .failure) {
      UDIContext(tag: "context").register((any Alpha).self, lifetime: .weak) {
        Made()
      }.onClose { _ in
      }
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      // Without a lifetime, it is unique.
      UDIContext(tag: "context").register((any Alpha).self) { (_, label: String) in
        Made(label)
      }.onClose { _ in
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("OnCloseTests.swift") && message.contains(#"the lifetime "unique""#), "\(message)")
  }

  /// A storage may let go of an instance at any time, unnoticed.
  @Test func aStorageOfOnesOwnIsRefused() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let mine = UDILifetime("mine", storage: .custom { SharedCreationTests.Strong() })
      UDIContext(tag: "context").register((any Alpha).self, lifetime: mine) {
        Made()
      }.onClose { _ in
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("OnCloseTests.swift"), "\(message)")
    #expect(message.contains(#"under the lifetime "mine" the context does not own the instances"#), "\(message)")
  }

  // MARK: Letting go without closing

  /// A way to let go of what a context has made.
  struct Way: CustomTestStringConvertible {
    let testDescription: String
    let use: @Sendable (UDIContext, UDIRegistration<any Alpha>) -> Void
    init(_ name: String, _ use: @escaping @Sendable (UDIContext, UDIRegistration<any Alpha>) -> Void) {
      (testDescription, self.use) = (name, use)
    }
  }

  static let ways = [
    Way("reset") { context, _ in context.reset() },
    Way("reset of a lifetime") { context, registration in context.reset(registration.lifetime ?? .context) },
    Way("unregister") { context, _ in context.unregister((any Alpha).self) },
    Way("unregister the registration") { _, registration in registration.unregister() },
    Way("register again") { context, _ in context.register((any Alpha).self, replaces: true) { Made() } },
    Way("provide instead") { context, _ in context.provide(Made(), as: (any Alpha).self, replaces: true) },
  ]

  @Test(arguments: ways, [UDILifetime.context, own])
  func whatIsLetGoOfWithoutClosingIsReported(_ way: Way, _ lifetime: UDILifetime) async throws {
    let (context, census) = (UDIContext(tag: "context"), Census())
    let line = #line + 1
    let registration = context.register((any Alpha).self, lifetime: lifetime) {
      Made("a", census)
    }.onClose { _ in
      Issue.record("closed")
    }
    let (_, before) = MisuseLog.during { way.use(context, registration) }
    #expect(before.isEmpty, "nothing had been made: \(before)")
    let again = context.register((any Alpha).self, lifetime: lifetime, replaces: true) {
      Made("a", census)
    }.onClose { _ in
      Issue.record("closed")
    }
    _ = context.link((any Alpha).self)
    let (_, complaints) = MisuseLog.during { way.use(context, again) }
    #expect(complaints.map(\.kind) == [.unclosed] && census.alive == 0, "\(complaints)")
    #expect(complaints.first?.line == again.line && again.line > line, "\(complaints)")
    try await context.close()
  }

  @Test(arguments: [UDILifetime.context, own])
  func whatIsReleasedWithItsContextIsReported(_ lifetime: UDILifetime) throws {
    let census = Census()
    let (_, complaints) = try MisuseLog.during {
      let root = UDIContext(tag: "root")
      let child = try root.makeChild(tag: "child")
      for number in 0..<3 {
        child.register((any Alpha).self, named: UDIName(number), lifetime: lifetime) { (_, _: Int) in
          Made("a", census)
        }.onClose { _ in
        }
      }
      for number in 0..<2 {
        _ = child.link((any Alpha).self, named: UDIName(number), with: 1)
        _ = child.link((any Alpha).self, named: UDIName(number), with: 2)
      }
      #expect(census.alive == 4)
    }
    #expect(complaints.allSatisfy { $0.kind == .unclosed } && census.alive == 0)
    // One report for each provider.
    #expect(complaints.count == 2, "\(complaints)")
  }

  @Test func aSynchronousScopeReportsWhatItDoesNotClose() throws {
    let (_, complaints) = MisuseLog.during {
      UDIContext(tag: "root").withScope(tag: "scope") { scope in _ = scope.provide(1).onClose { _ in } }
    }
    #expect(complaints.map(\.kind) == [.unclosed])
  }

  /// A reset keeps what was provided.
  @Test func aResetOfWhatWasProvidedKeepsIt() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    let made = Made()
    let (registration, complaints) = MisuseLog.during {
      let registration = context.provide(made, as: (any Alpha).self).onClose { journal.add("closed \($0 === made)") }
      context.reset()
      return registration
    }
    #expect(complaints.isEmpty && registration.context == context && context.link((any Alpha).self) === made)
    context.reset()
    try await context.close()
    #expect(journal.all == ["closed true"])
    let (_, others) = MisuseLog.during {
      let context = UDIContext(tag: "context")
      context.provide(made, as: (any Alpha).self).onClose { _ in }
      context.reset()
      context.unregister((any Alpha).self)
    }
    #expect(others.map(\.kind) == [.unclosed])
  }

  /// The factory runs while its provider is reset, so what it makes is not kept.
  @Test func whatIsMadeDuringAResetIsReported() async throws {
    let context = UDIContext(tag: "context")
    let (_, complaints) = MisuseLog.during {
      context.register((any Alpha).self, lifetime: .context) { context in
        context.reset()
        return Made()
      }.onClose { _ in
        Issue.record("closed")
      }
      _ = context.link((any Alpha).self)
    }
    #expect(complaints.map(\.kind) == [.unclosed])
    let (_, others) = MisuseLog.during {
      context.register((any Alpha).self, lifetime: .context, replaces: true) { context in
        context.unregister((any Alpha).self)
        return Made()
      }.onClose { _ in
        Issue.record("closed")
      }
      _ = context.link((any Alpha).self)
    }
    #expect(others.map(\.kind) == [.unclosed])
    try await context.close()
  }

  /// The reporter uses the tree, which would stop the process if a lock were held.
  @Test func reportsAreMadeWithNoLockHeld() {
    let context = UDIContext(tag: "context")
    let count = Tally()
    withReporter(
      UDIReporter { _ in
        count.add()
        _ = context.children + (context.parent.map { [$0] } ?? [])
      }
    ) {
      context.provide(Made(), as: (any Alpha).self).onClose { _ in }
      context.provide(Made(), as: (any Alpha).self, replaces: true).onClose { _ in }
      context.unregister((any Alpha).self)
    }
    #expect(count.count == 2)
  }

  // MARK: Scopes

  @Test func theAsynchronousScopeIsClosedHoweverTheOperationEnds() async throws {
    let (root, journal) = (UDIContext(tag: "root"), Journal())
    func add(to scope: UDIContext, _ label: String) {
      scope.register((any Alpha).self, lifetime: .context) {
        Made()
      }.onClose { _ in
        journal.add(label)
      }
      _ = scope.link((any Alpha).self)
    }
    let kept = try await root.withScope(tag: "1") { scope async in
      add(to: scope, "success")
      return scope
    }
    #expect(journal.all == ["success"] && kept.explain(Int.self).cause == .contextClosed(fullPath: ["1"]))
    await #expect(throws: OutOfOrder.self) {
      try await root.withScope(tag: "2") { scope async throws(OutOfOrder) in
        add(to: scope, "failure")
        throw OutOfOrder()
      }
    }
    let begun = Signal()
    let task = Task {
      try await root.withScope(tag: "3") { scope async in
        add(to: scope, "cancellation")
        begun.send()
        await eventually { Task.isCancelled }
      }
    }
    await begun.wait()
    task.cancel()
    try await task.value
    #expect(journal.all == ["success", "failure", "cancellation"] && root.children.isEmpty)
    // Without anything to close, a scope is closed all the same, with what is below.
    let (scope, child) = try await root.withScope(tag: "4") { scope async throws in
      (scope, try scope.makeChild(tag: "child"))
    }
    #expect([scope, child].allSatisfy { if case .contextClosed = $0.explain(Int.self).cause { true } else { false } })
  }

  /// In an asynchronous function, the scope is closed whatever the operation awaits.
  @Test func aScopeIsClosedEvenIfTheOperationAwaitsNothing() async throws {
    let (root, journal) = (UDIContext(tag: "root"), Journal())
    try await root.withScope(tag: "1") { scope in _ = scope.provide(1).onClose { _ in journal.add("returned") } }
    let result = try await root.withScope(tag: "2") { scope in
      scope.provide(2).onClose { _ in journal.add("returned a value") }
      return try scope.require(Int.self)
    }
    await #expect(throws: OutOfOrder.self) {
      try await root.withScope(tag: "3") { scope in
        scope.provide(3).onClose { _ in journal.add("thrown") }
        throw OutOfOrder()
      }
    }
    #expect(journal.all == ["returned", "returned a value", "thrown"] && result == 2)
  }

  /// The operation has begun to close its scope, and has not waited for the end. That is awaited nevertheless.
  @Test func aScopeThatIsBeingClosedIsAwaited() async throws {
    let (root, journal) = (UDIContext(tag: "root"), Journal())
    let (begun, inside, go) = (Signal(), Signal(), Signal())
    let scoping = Task {
      try await root.withScope(tag: "scope") { scope async in
        scope.provide(1).onClose { _ in
          begun.send()
          await go.wait()
          journal.add("closed")
        }
        Task { try await scope.close() }
        await begun.wait()
        inside.send()
      }
      journal.add("returned")
    }
    await inside.wait()
    for _ in 0..<100 { await Task.yield() }
    go.send()
    // The closure has not seen that the operation has returned.
    await #expect(throws: UDIUntimelyEnd.scopeClosed) { try await scoping.value }
    #expect(journal.all == ["closed"])
  }

  /// A closer waits for the factory that the scope is a part of, so the factory does not wait for the closing.
  @Test(.unlessItHangs) func aScopeIsClosedBeforeWhoeverTheCloserWaitsFor() async throws {
    let (root, waits) = (UDIContext(tag: "root"), Signal())
    root.register((any Alpha).self, lifetime: .context) { root in
      try await root.withScope(tag: "scope") { scope in
        scope.provide(1).onClose { _ in
          await Schedule.$hook.withValue({ if $0 == .waits { waits.send() } }) {
            _ = try? await root.obtain((any Alpha).self)
          }
        }
        Task.detached { try await scope.close() }
        await waits.wait()
      }
      return Made()
    }
    await #expect(throws: UDIUntimelyEnd.scopeClosed) { try await root.obtain((any Alpha).self) }
    try await root.close()
  }

  @Test func errorsOfAScopesClosersAreThrown() async throws {
    let root = UDIContext(tag: "root")
    func provide(in scope: UDIContext) {
      scope.provide(1).onClose { _ in throw OutOfOrder() }
      scope.provide("2").onClose { _ in throw OutOfOrder() }
    }
    let (error, none) = await MisuseLog.during {
      await #expect(throws: UDICloseError.self) { try await root.withScope(tag: "scope", operation: provide) }
    }
    #expect(error?.failures.map { $0.error is OutOfOrder } == [true, true] && none.isEmpty)
    // The error of the operation comes first.
    let (_, complaints) = await MisuseLog.during {
      await #expect(throws: CancellationError.self) {
        try await root.withScope(tag: "scope") { scope async throws in
          provide(in: scope)
          throw CancellationError()
        }
      }
    }
    #expect(complaints.map(\.kind) == [.closingFailed, .closingFailed])
    #expect(complaints.allSatisfy { $0.message.contains("OutOfOrder") && $0.fileID.contains("OnCloseTests") })
    // Who closes the scope gets the error.
    await #expect(throws: UDICloseError.self) {
      try await root.withScope(tag: "scope") { scope async throws in
        provide(in: scope)
        try await scope.close()
      }
    }
    #expect(root.children.isEmpty)
  }

  /// Other code closes the scope, or a context above it, before the operation returns. Its closures have not seen that.
  @Test(arguments: [false, true], [0, 1, 2]) func aScopeThatIsClosedBefore(_ isAbove: Bool, _ depth: Int) async throws {
    let root = UDIContext(tag: "root")
    let home = try root.makeChild(tag: "home")
    home.provide("home").onClose { _ in throw OutOfOrder() }
    let journal = Journal()
    let (_, complaints) = await MisuseLog.during {
      await #expect(throws: UDIUntimelyEnd.scopeClosed) {
        try await home.withScope(tag: "scope") { scope in
          var inner = scope
          for level in 0..<depth { inner = try inner.makeChild(tag: "\(level)") }
          inner.provide(1).onClose { _ in
            if case .closed = UDIEnding.current { journal.add("rolled back") }
          }
          try? await (isAbove ? home : scope).close()
        }
      }
    }
    #expect(journal.all == ["rolled back"] && complaints.isEmpty)
    // What had nothing to close has lost nothing.
    let other = try root.makeChild(tag: "other")
    let result = try await other.withScope(tag: "scope") { scope in
      try await (isAbove ? other : scope).close()
      return 7
    }
    #expect(result == 7)
    try? await root.close()
  }

  /// A run that closes the root is joined by all requests below; its failure is told to the one who has called it.
  @Test func aFailureOfTheRootIsToldOnce() async throws {
    let root = UDIContext(tag: "root")
    let (closing, go) = (Signal(), Signal())
    root.provide(0).onClose { _ in throw OutOfOrder() }
    root.provide("slow").onClose { _ in
      closing.send()
      await go.wait()
    }
    let (_, complaints) = await MisuseLog.during {
      await withDiscardingTaskGroup { group in
        let begun = Tally()
        for _ in 0..<10 {
          group.addTask {
            try? await root.withScope(tag: "request") { _ in
              begun.add()
              await closing.wait()
            }
          }
        }
        await eventually { begun.count >= 10 }
        group.addTask { await #expect(throws: UDICloseError.self) { try await root.close() } }
        await closing.wait()
        for _ in 0..<100 { await Task.yield() }
        go.send()
      }
    }
    #expect(complaints.isEmpty)
  }

  @Test func theErrorSaysWhatFailedAndWhere() async throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    child.provide(1, named: "one").onClose { _ in throw OutOfOrder() }
    let error = await #expect(throws: UDICloseError.self) { try await root.close() }
    let text = error?.description ?? ""
    for part in ["Swift.Int", "one", "root / child", "OnCloseTests.swift", "OutOfOrder"] {
      #expect(text.contains(part), "\(text)")
    }
  }
}
