import Foundation
import Testing
import TreeModel
import UDI

/// `close()`: what is closed, in which order, and who waits for it.
@Suite struct CloseTests {
  private struct Broken: Error { let label: String }

  /// Something numbered that is made of others.
  private final class Part: Alpha {
    let number: Int
    let parts: [any Alpha]
    init(_ number: Int, parts: [any Alpha]) { (self.number, self.parts) = (number, parts) }
  }

  /// Closes a context in a task of its own.
  private func closing(_ context: UDIContext) -> Task<UDICloseError?, Never> {
    Task {
      do { try await context.close() } catch { return error as? UDICloseError }
      return nil
    }
  }

  // MARK: The order

  /// 200 instances in a random tree of contexts, made of one another. A third of the closers throw, and the task that
  /// closes is cancelled in the middle.
  @Test(arguments: 0..<5)
  func whatWasMadeLastIsClosedFirst(_ run: Int) async throws {
    let seed = run == 0 ? 20_261_122 : UInt64.random(in: 0...UInt64.max)
    print("CloseTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    let root = UDIContext(tag: "root")
    var contexts = [root]
    for index in 1..<20 {
      let parent = contexts.randomElement(using: &random)!
      let isScope = Bool.random(using: &random)
      contexts.append(try isScope ? parent.makeScope(tag: "\(index)") : parent.makeChild(tag: "\(index)"))
    }
    let breadthFirst = [root] + root.descendants
    let (made, closed, half, count) = (Locked<[Int]>([]), Locked<[Int]>([]), Signal(), 200)
    let places = (0..<count).map { _ in contexts.randomElement(using: &random)! }
    for number in 0..<count {
      // Each is made of some with lower numbers that are in its own context or above.
      let above = Array(sequence(first: places[number]) { $0.parent })
      let needed = Array((0..<number).filter { above.contains(places[$0]) }.shuffled(using: &random).prefix(3))
      let fails = Int.random(in: 0..<3, using: &random) == 0
      places[number].register((any Alpha).self, named: "\(number)", lifetime: .context) { context in
        let parts = try needed.map { try context.require((any Alpha).self, named: "\($0)") }
        made.withLock { $0.append(number) }
        return Part(number, parts: parts)
      }.onClose { instance in
        #expect((instance as? Part)?.number == number)
        closed.withLock { $0.append(number) }
        if closed.withLock({ $0.count }) == count / 2 { half.send() }
        await Task.yield()
        if fails { throw Broken(label: "\(number)") }
      }
    }
    for number in (0..<count).shuffled(using: &random) {
      _ = places[number].link((any Alpha).self, named: "\(number)", search: .local)
    }
    #expect(made.withLock { $0.count } == count)

    let task = closing(root)
    await half.wait()
    task.cancel()
    let error = await task.value

    let expected = (0..<count).sorted {
      let (left, right) = (breadthFirst.firstIndex(of: places[$0])!, breadthFirst.firstIndex(of: places[$1])!)
      return (left, $0) > (right, $1)
    }
    #expect(closed.withLock { $0 } == expected)
    let failures = try #require(error).failures
    #expect(failures.count > 20 && failures.count < 120)
    #expect(failures.map { ($0.error as? Broken).map(\.label) } == failures.map(\.name))
    #expect(failures.allSatisfy { $0.fullPath.first == "root" && $0.typeName == String(reflecting: (any Alpha).self) })
    for context in contexts {
      #expect(context.parent == nil && context.children.isEmpty)
      #expect((0..<count).allSatisfy { context.link((any Alpha).self, named: "\($0)") == nil })
    }
  }

  /// Every set of arguments has an instance of its own. Of one registration, what was made last is closed first.
  @Test func instancesWithArgumentsAndProvidedOnesHavePlacesInTheOrder() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    context.register((any Alpha).self, lifetime: .context) { (_, label: String) in
      Made(label)
    }.onClose {
      journal.add(($0 as? Made)?.label ?? "")
    }
    context.register((any Beta).self, lifetime: UDILifetime("own")) { (_, label: String) in
      Made(label)
    }.onCreate { _, beta in
      journal.add("created \((beta as? Made)?.label ?? "")")
    }.onClose {
      journal.add(($0 as? Made)?.label ?? "")
    }
    _ = context.link((any Alpha).self, with: "1")
    _ = context.link((any Beta).self, with: "2")
    context.provide(3).onClose { journal.add("\($0)") }
    _ = context.link((any Alpha).self, with: "4")
    _ = context.link((any Alpha).self, with: "1")
    try await context.close()
    #expect(journal.all == ["created 2", "3", "2", "4", "1"])
  }

  @Test func whatIsClosedIsDroppedBeforeTheNextCloserRuns() async throws {
    let (context, census, journal) = (UDIContext(tag: "context"), Census(), Journal())
    let child = try context.makeChild(tag: "child")
    for (place, name) in [(context, "first"), (context, "second"), (child, "third")] {
      place.register((any Alpha).self, named: UDIName(name), lifetime: .context) {
        Made(name, census)
      }.onClose { _ in
        let found = ["first", "second", "third"].filter { child.link((any Alpha).self, named: UDIName($0)) != nil }
        journal.add("\(name), \(census.alive): \(found)")
      }
      _ = place.link((any Alpha).self, named: UDIName(name))
    }
    try await context.close()
    #expect(
      journal.all == [
        #"third, 3: ["first", "second", "third"]"#, #"second, 2: ["first", "second"]"#, #"first, 1: ["first"]"#,
      ])
    #expect(census.alive == 0)
  }

  /// Other types that are served from an instance are still found while it is closed, and close nothing themselves.
  @Test func anAliasClosesNothing() async throws {
    let (context, census, journal) = (UDIContext(tag: "context"), Census(), Journal())
    context.register((any Alpha).self, lifetime: .context) {
      Made("a", census)
    }.onClose { _ in
      journal.add("closed; found \(context.link((any Beta).self) != nil), \(context.link((any Gamma).self) != nil)")
    }.implements((any Beta).self).implements((any Gamma).self)
    _ = context.link((any Beta).self)
    try await context.close()
    #expect(journal.all == ["closed; found true, true"] && census.alive == 0)
  }

  @Test func nothingIsMadeWhileAContextIsClosed() async throws {
    let (root, journal) = (UDIContext(tag: "root"), Journal())
    let context = try root.makeChild(tag: "context")
    root.register((any Gamma).self, lifetime: .context) { Made() }
    context.register((any Beta).self, lifetime: .context) { Made() }
    context.register((any Beta).self, named: "always") { Made() }
    context.register((any Beta).self, named: "number", lifetime: .context) { (_, _: Int) in Made() }
    let registration = context.provide(1).onClose { _ in
      journal.add("\(context.link((any Beta).self) == nil), \(context.link((any Beta).self, named: "always") == nil)")
      journal.add("\(context.link((any Gamma).self) != nil)")
      let error = #expect(throws: UDILinkError.self) {
        try context.require((any Beta).self, named: "number", with: 2)
      }
      #expect(error?.cause == .contextClosed(fullPath: ["root", "context"]), "\(error as Any)")
      #expect(context.explain((any Beta).self).cause == .contextClosed(fullPath: ["root", "context"]))
      let (_, complaints) = MisuseLog.during { context.register((any Alpha).self) { Made() } }
      #expect(complaints.map(\.kind) == [.contextClosed])
      #expect(throws: UDITreeError.self) { try context.makeChild(tag: "late") }
      #expect(throws: UDITreeError.self) { try UDIContext(tag: "other").addChild(context) }
      context.reset()
      #expect(!context.unregister(Int.self) && context.link(Int.self) == 1)
    }
    _ = root.link((any Gamma).self)
    try await context.close()
    #expect(journal.all == ["true, true", "true"])
    #expect(!registration.unregister() && root.children.isEmpty)
    #expect(root.link((any Gamma).self) != nil)
  }

  /// 100,000 contexts, one below the other.
  @Test(.exceptUnderThreadSanitizer) func aLongChain() async throws {
    // From the lowest up: an audit of another test goes up from each context that is made.
    func makeChain(_ prepare: (UDIContext, Int) -> Void) throws -> (root: UDIContext, lowest: UDIContext) {
      let lowest = UDIContext(tag: "lowest")
      var root = lowest
      for level in (0..<100_000).reversed() {
        let above = UDIContext(tag: "\(level)")
        prepare(above, level)
        try above.addChild(root)
        root = above
      }
      return (root, lowest)
    }
    let journal = Journal()
    let chain = try makeChain { context, level in
      if level % 20_000 == 0 { context.provide(level).onClose { journal.add("\($0)") } }
    }
    try await chain.root.close()
    #expect(journal.all == ["80000", "60000", "40000", "20000", "0"])
    #expect(chain.lowest.parent == nil && chain.root.children.isEmpty)
    // What was registered and never made leaves without a word to all the contexts above.
    let other = try makeChain { context, level in
      if level.isMultiple(of: 10) { context.register((any Service).self, lifetime: .context) { Plain() } }
    }
    try await other.root.close()
    #expect(other.lowest.parent == nil && other.root.children.isEmpty)
  }

  @Test("The lowest level is closed first and, on a level, what was added last")
  func levels() async throws {
    let (context, journal) = (UDIContext(tag: "0"), Journal())
    for first in ["1", "2"] {
      let child = try context.makeChild(tag: first)
      child.provide(first).onClose { journal.add($0) }
      for second in ["a", "b"] { try child.makeScope(tag: second).provide(first + second).onClose { journal.add($0) } }
    }
    context.provide("0").onClose { journal.add($0) }
    try await context.close()
    #expect(journal.all == ["2b", "2a", "1b", "1a", "2", "1", "0"])
  }

  // MARK: Who waits

  @Test("A child that was removed while it is being closed is still awaited")
  func removedWhileClosing() async throws {
    let context = UDIContext(tag: "context")
    let child = try context.makeChild(tag: "child")
    let (begun, go) = (Signal(), Signal())
    child.provide(1).onClose { _ in
      begun.send()
      await go.wait()
      throw Broken(label: "1")
    }
    let first = closing(context)
    await begun.wait()
    child.removeFromParent()
    let second = closing(child)
    go.send()
    #expect(await first.value?.failures.count == 1)
    #expect(await second.value?.failures.count == 1)
  }

  @Test("What an object's hook links does not help to make the object, so only the registrations count")
  func madeInHook() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    context.register(Member.self, lifetime: .context) {
      Member { member in
        member.bind(member, as: (any Service).self)
        _ = member.linkInLine((any Alpha).self)
      }
    }.onClose { _ in
      journal.add("object")
    }
    context.register((any Alpha).self, lifetime: .context) { context in
      Made(parts: [try context.require((any Service).self)])
    }.onClose { _ in
      journal.add("made of it")
    }
    _ = context.link(Member.self)
    try await context.close()
    #expect(journal.all == ["made of it", "object"])
  }

  @Test("While a context is being closed, not even a fresh instance is made", .silent)
  func freshWhileClosing() async throws {
    let (context, made) = (UDIContext(tag: "context"), Tally())
    context.register((any Service).self, lifetime: .context) {
      made.add()
      return Plain()
    }.onClose { _ in
      #expect(context.link((any Service).self, fresh: true) == nil)
    }
    _ = context.link((any Service).self)
    try await context.close()
    #expect(made.count == 1)
  }

  @Test func aSecondCloseReturnsAtOnceAndOthersWaitForTheSameEnd() async throws {
    let context = UDIContext(tag: "context")
    let child = try context.makeChild(tag: "child")
    let (begun, go, closings) = (Signal(), Signal(), Tally())
    context.provide(1).onClose { _ in
      closings.add()
      begun.send()
      await go.wait()
      throw Broken(label: "1")
    }
    let first = closing(context)
    await begun.wait()
    let others = [closing(context), closing(context)]
    others[1].cancel()
    #expect(await closing(child).value == nil)
    go.send()
    for task in [first] + others {
      let failures = await task.value?.failures
      #expect(failures?.map { ($0.error as? Broken)?.label } == ["1"])
      #expect(failures?.map(\.fullPath) == [["context"]])
    }
    #expect(closings.count == 1)
    try await context.close()
    try await child.close()
  }

  /// The parent's close waits for that of its child, and has the child's failures too.
  @Test func aCloseWaitsForTheCloseOfAContextBelow() async throws {
    let (root, journal) = (UDIContext(tag: "root"), Journal())
    let child = try root.makeChild(tag: "child")
    let (begun, go) = (Signal(), Signal())
    root.provide(1).onClose { _ in journal.add("root") }
    child.provide(2).onClose { _ in
      begun.send()
      await go.wait()
      journal.add("child")
      throw Broken(label: "2")
    }
    let below = closing(child)
    await begun.wait()
    let above = closing(root)
    await Task.yield()
    go.send()
    let errors = [await below.value, await above.value]
    #expect(errors.allSatisfy { $0?.failures.map(\.fullPath) == [["root", "child"]] })
    #expect(journal.all == ["child", "root"])
  }

  /// A closer that closes its own context, one above, or one whose closer closes this one, does not wait.
  @Test(.unlessItHangs) func aCloserThatClosesItsOwnContextDoesNotHang() async throws {
    let root = UDIContext(tag: "root")
    let (context, other) = (try root.makeChild(tag: "context"), UDIContext(tag: "other"))
    let (journal, rootIsClosed) = (Journal(), Signal())
    root.provide(0).onClose { _ in
      journal.add("root")
      rootIsClosed.send()
    }
    other.provide(2).onClose { _ in
      try await context.close()
      journal.add("other")
    }
    context.provide(1).onClose { _ in
      try await context.close()
      try await root.close()
      // That closer in turn closes this context.
      try await other.close()
      journal.add("context")
    }
    try await context.close()
    await rootIsClosed.wait()
    #expect(journal.all == ["other", "context", "root"])
    try await root.close()
    #expect(root.link(Int.self) == nil)
  }

  /// Nobody waits for the close that a closer has begun, so what goes wrong there is reported.
  @Test func whatGoesWrongInACloseThatNobodyWaitsForIsReported() async throws {
    let (root, closed) = (UDIContext(tag: "root"), Signal())
    let context = try root.makeChild(tag: "context")
    let log = MisuseLog()
    let reporter = UDIReporter { misuse in
      log.reporter.forward(misuse)
      closed.send()
    }
    await withReporter(reporter) {
      root.provide(0).onClose { _ in throw Broken(label: "0") }
      context.provide(1).onClose { _ in try await root.close() }
      try? await context.close()
      await closed.wait()
    }
    #expect(log.all.map(\.kind) == [.closingFailed] && log.all[0].message.contains("Broken"))
  }

  // MARK: What is being made

  /// The factory runs on another thread while the context is closed.
  @Test func aMakingUnderWayIsAwaitedAndClosed() async throws {
    let (context, census, journal) = (UDIContext(tag: "context"), Census(), Journal())
    let (begun, go, done) = (Signal(), Meeting(2), Signal())
    context.register((any Alpha).self, lifetime: .context) { context in
      begun.send()
      go.arrive()
      // Nothing more is begun.
      #expect(context.link((any Beta).self) == nil)
      return Made("late", census)
    }.onClose {
      journal.add(($0 as? Made)?.label ?? "")
    }
    context.register((any Beta).self, lifetime: .context) {
      Made()
    }.onClose { _ in
      journal.add("never made")
    }
    onThread {
      #expect(context.link((any Alpha).self) != nil)
      done.send()
    }
    await begun.wait()
    let task = closing(context)
    await eventually { context.explain((any Beta).self).cause == .contextClosed(fullPath: ["context"]) }
    #expect(journal.all.isEmpty)
    onThread { go.arrive() }
    #expect(await task.value == nil)
    await done.wait()
    #expect(journal.all == ["late"] && context.link((any Alpha).self) == nil)
  }

  /// Also if nothing has to be closed.
  @Test(arguments: [UDILifetime.context, UDILifetime("mine", storage: .custom { SharedCreationTests.Strong() })])
  func aMakingUnderWayIsAwaited(_ lifetime: UDILifetime) async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    let (begun, go, done) = (Signal(), Meeting(2), Signal())
    context.register((any Alpha).self, lifetime: lifetime) { _ in
      begun.send()
      go.arrive()
      journal.add("made")
      return Made()
    }
    onThread {
      _ = context.link((any Alpha).self)
      done.send()
    }
    await begun.wait()
    let task = Task {
      try await context.close()
      journal.add("closed")
    }
    await eventually { context.explain((any Beta).self).cause == .contextClosed(fullPath: ["context"]) }
    for _ in 0..<100 { await Task.yield() }
    onThread { go.arrive() }
    try await task.value
    await done.wait()
    #expect(journal.all == ["made", "closed"] && context.link((any Alpha).self) == nil)
  }

  /// Nothing else holds the instance by then, and its `deinit` uses the tree.
  @Test(.unlessItHangs) func whatWasAwaitedIsReleasedWithNoLockHeld() async throws {
    let context = UDIContext(tag: "context")
    let (begun, go, released) = (Signal(), Meeting(2), Signal())
    context.register((any Beta).self, lifetime: .context) {
      Made()
    }.onClose { _ in
      await released.wait()
    }
    context.register(Member.self, lifetime: .context) {
      begun.send()
      go.arrive()
      return Member("late")
    }
    #expect(context.link((any Beta).self) != nil)
    onThread {
      _ = context.link(Member.self)
      released.send()
    }
    await begun.wait()
    let task = closing(context)
    await eventually { context.explain((any Gamma).self).cause == .contextClosed(fullPath: ["context"]) }
    onThread { go.arrive() }
    #expect(await task.value == nil && context.link(Member.self) == nil)
  }

  @Test func aMakingUnderWayThatFailsLeavesNothingToClose() async throws {
    let (context, journal) = (UDIContext(tag: "context"), Journal())
    let (begun, go, done) = (Signal(), Meeting(2), Signal())
    context.register((any Alpha).self, lifetime: .context) { _ -> Made in
      begun.send()
      go.arrive()
      throw OutOfOrder()
    }.onClose { _ in
      journal.add("closed")
    }
    onThread {
      #expect(throws: OutOfOrder.self) { try context.require((any Alpha).self) }
      #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
      done.send()
    }
    await begun.wait()
    let task = closing(context)
    await eventually { context.explain((any Beta).self).cause == .contextClosed(fullPath: ["context"]) }
    onThread { go.arrive() }
    #expect(await task.value == nil)
    await done.wait()
    #expect(journal.all.isEmpty)
  }

  /// The factory starts the task that closes its own context.
  @Test(.unlessItHangs) func aFactoryBeginsToCloseItsOwnContext() async throws {
    let (context, journal, closed) = (UDIContext(tag: "context"), Journal(), Signal())
    context.register((any Alpha).self, lifetime: .context) { context in
      Task {
        try await context.close()
        closed.send()
      }
      return Made()
    }.onClose { _ in
      journal.add("closed")
    }
    let made = context.link((any Alpha).self)
    await closed.wait()
    // The task might have come first.
    #expect(journal.all == (made == nil ? [] : ["closed"]))
    #expect(context.link((any Alpha).self) == nil)
  }

  /// Nothing is closed twice or left open, whenever the threads that make things are overtaken.
  @Test func threadsLinkWhileAContextIsClosed() async throws {
    for _ in 0..<50 {
      let (context, made, closed) = (UDIContext(tag: "context"), Tally(), Tally())
      let child = try context.makeChild(tag: "child")
      for index in 0..<8 {
        (index % 2 == 0 ? context : child).register((any Alpha).self, named: UDIName(index), lifetime: .context) {
          made.add()
          return Made()
        }.onClose { _ in
          closed.add()
        }
      }
      async let threads: Void = Task.detached {
        onThreads(4) { thread in
          for index in 0..<8 { _ = child.link((any Alpha).self, named: UDIName((index + thread) % 8)) }
        }
      }.value
      try await context.close()
      await threads
      #expect(made.count == closed.count)
    }
  }
}

/// Runs a body on a thread of its own, without waiting for it, with the reporter of the test that calls this.
func onThread(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }
