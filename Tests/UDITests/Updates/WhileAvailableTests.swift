import Testing
import UDI

/// `whileAvailable`: an operation that runs as long as its dependencies are there.
@Suite(.unlessItHangs) struct WhileAvailableTests {
  let root = UDIContext(tag: "root")

  /// Waits until a condition holds.
  private func until(_ condition: @Sendable () -> Bool) async { await eventually(condition) }

  @Test("It begins when all are there, and returns what the operation returns by itself")
  func returns() async throws {
    let root = root
    let (first, second) = (Plain("1"), Plain("2"))
    root.bind(first, as: (any Service).self)
    async let text = root.whileAvailable((any Service).self, (any Loose).self) { service, loose in
      #expect(service === first)
      return loose.label
    }
    await Task.yield()
    root.bind(second, as: (any Loose).self)
    #expect(try await text == "2")
    #expect(try await root.whileAvailable((any Service).self) { $0 === first })
    let member = Member().attached(to: root)
    #expect(try await member.whileAvailable((any Service).self, search: .ancestors) { $0 === first })
    withExtendedLifetime((first, second)) {}
  }

  @Test(
    "What its provider does not keep is made again for the operation", arguments: [UDILifetime.unique, .graph, .weak])
  func whatIsNotKept(_ lifetime: UDILifetime) async throws {
    root.register((any Service).self, lifetime: lifetime) { Plain("made") as any Service }
    root.register((any Loose).self, lifetime: lifetime) { Plain("other") as any Loose }
    let labels = try await root.whileAvailable((any Service).self, (any Loose).self) { service, loose in
      [(service as? Plain)?.label, loose.label]
    }
    #expect(labels == ["made", "other"])
  }

  @Test("An operation of the main actor runs there")
  @MainActor func isolation() async throws {
    let plain = Plain("1")
    root.bind(plain, as: (any Service).self)
    let isFound = try await root.whileAvailable((any Service).self) { @MainActor service in
      MainActor.assertIsolated()
      return service === plain
    }
    #expect(isFound)
    withExtendedLifetime(plain) {}
  }

  @Test("What the operation throws by itself ends it, too")
  func `throws`() async {
    let plain = Plain()
    root.bind(plain, as: (any Service).self, named: "a")
    await #expect(throws: OutOfOrder(code: 3)) {
      try await root.whileAvailable(UDIKey<any Service>(named: "a")) { _ in throw OutOfOrder(code: 3) }
    }
    withExtendedLifetime(plain) {}
  }

  @Test("One goes, or another takes its place: the operation is cancelled, and begins again")
  func again() async throws {
    let root = root
    let (first, second, third) = (Plain("1"), Plain("2"), Plain("3"))
    root.bind(first, as: (any Service).self)
    root.bind(third, as: (any Other).self)
    let seen = Locked<[String]>([])
    let task = Task {
      try await root.whileAvailable((any Service).self, (any Other).self) { service, _ in
        let label = (service as? Plain)?.label ?? ""
        seen.withLock { $0.append(label) }
        await eventually { Task.isCancelled }
        seen.withLock { $0.append("\(label) ends") }
        return label
      }
    }
    await until { seen.withLock { $0.count } == 1 }
    root.bind(second, as: (any Service).self)
    await until { seen.withLock { $0.count } == 3 }
    root.unbind((any Other).self)
    await until { seen.withLock { $0.count } == 4 }
    root.bind(third, as: (any Other).self)
    await until { seen.withLock { $0.count } == 5 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(seen.withLock { $0 } == ["1", "1 ends", "2", "2 ends", "2", "2 ends"])
    withExtendedLifetime((first, second, third)) {}
  }

  @Test("The context is closed: what it owns is closed when the operation has ended, also one of an object below")
  func closedAfterTheEnd() async throws {
    let (root, journal, begun) = (root, Journal(), Latch(2))
    root.provide(Plain(), as: (any Service).self).onClose { _ in journal.add("closed") }
    let member = Member().attached(to: try root.makeChild(tag: "child"))
    @Sendable func run(_: any Service) async {
      begun.arrive()
      try? await untilCancelled()
      for _ in 0..<100 { await Task.yield() }
      journal.add("ended")
    }
    let tasks = [
      Task { try await root.whileAvailable((any Service).self) { await run($0) } },
      Task { try await member.whileAvailable((any Service).self) { await run($0) } },
    ]
    await begun.wait()
    try await root.close()
    #expect(journal.all == ["ended", "ended", "closed"])
    for task in tasks { await #expect(throws: UDILinkError.self) { try await task.value } }
  }

  @Test("An operation may close its own context, and a context above")
  func closesItsContext() async throws {
    let (root, journal) = (root, Journal())
    root.provide(Plain(), as: (any Service).self).onClose { _ in journal.add("closed") }
    let child = try root.makeChild(tag: "child")
    try await child.whileAvailable((any Service).self) { _ in
      try await child.close()
      try await root.close()
      journal.add("ended")
    }
    try await root.close()
    #expect(journal.all == ["ended", "closed"])
  }

  @Test("The context is closed: the operation ends, and the error says why")
  func closed() async throws {
    let root = root
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    let (hasBegun, hasEnded) = (Tally(), Tally())
    let task = Task {
      try await root.whileAvailable((any Service).self) { _ in
        hasBegun.add()
        await eventually { Task.isCancelled }
        hasEnded.add()
      }
    }
    await until { hasBegun.count == 1 }
    try await root.close()
    let error = await #expect(throws: UDILinkError.self) { try await task.value }
    #expect(error?.cause == .contextClosed(fullPath: ["root"]) && hasEnded.count == 1)
    withExtendedLifetime(plain) {}
  }

  @Test("While one is missing, the others are not kept alive")
  func holdsNothing() async throws {
    let root = root
    weak var seen: Plain?
    let task = Task { try await root.whileAvailable((any Service).self, (any Other).self) { _, _ in } }
    do {
      let plain = Plain()
      seen = plain
      root.bind(plain, as: (any Service).self)
      for _ in 0..<100 { await Task.yield() }
    }
    #expect(seen == nil)
    let (first, second) = (Plain(), Plain())
    root.bind(first, as: (any Service).self)
    root.bind(second, as: (any Other).self)
    try await task.value
    withExtendedLifetime((first, second)) {}
  }

  @Test("Values, and what factories make")
  func values() async throws {
    root.register(Int.self, lifetime: .context) { 7 }
    root.register((any Alpha).self, lifetime: .context) { Made("made") }
    let text = try await root.whileAvailable(Int.self, (any Alpha).self) { number, alpha in
      "\(number) \((alpha as? Made)?.label ?? "")"
    }
    #expect(text == "7 made")
  }

  /// How many operations are running, and how many have run at once.
  private final class Running: Sendable {
    private let counts = Locked((now: 0, most: 0))
    var now: Int { counts.withLock { $0.now } }
    var most: Int { counts.withLock { $0.most } }

    func begin() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func end() { counts.withLock { $0.now -= 1 } }
  }

  @Test("1,000 comings and goings of two: never two operations at once, none left")
  func comingsAndGoings() async throws {
    let root = root
    let plains = (0..<4).map { Plain("\($0)") }
    let census = Running()
    await withTaskGroup(of: Void.self) { group in
      let consumer = Task {
        try await root.whileAvailable((any Service).self, (any Other).self) { _, _ in
          census.begin()
          await eventually { Task.isCancelled }
          await Task.yield()
          census.end()
        }
      }
      group.addTask {
        for index in 0..<1000 {
          root.bind(plains[index % 2], as: (any Service).self)
          await Task.yield()
          if index % 3 == 0 { root.unbind((any Service).self) }
        }
        root.bind(plains[0], as: (any Service).self)
      }
      group.addTask {
        for index in 0..<1000 {
          root.bind(plains[2 + index % 2], as: (any Other).self)
          if index % 5 == 0 { root.unbind((any Other).self) }
          await Task.yield()
        }
        root.bind(plains[2], as: (any Other).self)
      }
      await group.waitForAll()
      await until { census.now == 1 }
      consumer.cancel()
      await #expect(throws: CancellationError.self) { try await consumer.value }
    }
    #expect(census.now == 0 && census.most == 1)
    withExtendedLifetime(plains) {}
  }
}
