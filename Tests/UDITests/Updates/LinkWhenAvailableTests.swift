import Testing
import UDI

/// `linkWhenAvailable`: waiting for a dependency.
struct LinkWhenAvailableTests {
  let root = UDIContext(tag: "root")

  @Test("What is there is given at once, also to a task that is cancelled")
  func present() async throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    #expect(try await root.linkWhenAvailable((any Service).self) === plain)
    let member = Member().attached(to: root)
    #expect(try await member.linkWhenAvailable((any Service).self) === plain)
    let root = root
    let task = Task {
      await eventually { Task.isCancelled }
      return try await root.linkWhenAvailable((any Service).self)
    }
    task.cancel()
    #expect(try await task.value === plain)
  }

  @Test("What is bound later is waited for, below and above, by type and by name")
  func later() async throws {
    let child = try root.makeChild(tag: "child")
    let (below, above) = (Plain(), Plain())
    let root = root
    async let fromRoot = root.linkWhenAvailable((any Service).self)
    async let named = root.linkWhenAvailable((any Loose).self, named: "a")
    async let fromChild = child.linkWhenAvailable((any Other).self, search: .ancestors)
    await Task.yield()
    child.bind(below, as: (any Service).self)
    child.bind(below, as: (any Loose).self, named: "a")
    root.bind(above, as: (any Other).self)
    #expect(try await fromRoot === below)
    #expect(try await named.label == "plain")
    #expect(try await fromChild === above)
  }

  @Test("A factory that waits finds what is bound above, and passes over what is below", arguments: UDISearch.allCases)
  func inFactory(_ search: UDISearch) async throws {
    let child = try root.makeChild(tag: "child", search: search)
    let (below, above) = (Plain("below"), Plain("above"))
    try child.makeChild(tag: "below").bind(below, as: (any Service).self)
    child.register((any Other).self, lifetime: .context) { (context: UDIContext) async throws -> any Other in
      // The limit only ends a wait that would be endless.
      let service = try await context.linkWhenAvailable((any Service).self, within: .seconds(60))
      return Plain((service as? Plain)?.label ?? "")
    }
    async let made = child.obtain((any Other).self)
    await eventually { !child.nodeCountsOfWatchers.isEmpty && child.consumersAreWaiting }
    root.bind(above, as: (any Service).self)
    #expect((try await made as? Plain)?.label == "above")
    withExtendedLifetime((below, above)) {}
  }

  @Test("A registration ends the wait, too")
  func provider() async throws {
    let root = root
    async let found = root.linkWhenAvailable((any Service).self)
    await Task.yield()
    root.register((any Service).self, lifetime: .context) { Plain() }
    #expect(try await found === root.link((any Service).self))
  }

  @Test("Cancelled: it throws, and leaves nothing behind")
  func cancelled() async {
    weak var context: UDIContext?
    do {
      let passing = UDIContext(tag: "passing")
      context = passing
      let task = Task { try await passing.linkWhenAvailable((any Service).self) }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(context == nil)
  }

  @Test("Of an object whose context is gone it throws why")
  func contextGone() async throws {
    let member: Member
    do {
      let owner = UDIContext(tag: "owner")
      owner.register((any Service).self, lifetime: .context) { Member() }
      member = try #require(owner.link((any Service).self) as? Member)
    }
    let (_, misuse) = await MisuseLog.during {
      await #expect(throws: UDILinkError.self) { try await member.linkWhenAvailable((any Other).self) }
    }
    #expect(misuse.map(\.kind) == [.contextGone])
  }

  @Test("10,000 wait at once, half are cancelled: all end, and none leaves anything behind")
  func manyWaiters() async throws {
    weak var context: UDIContext?
    let plain = Plain()
    do {
      let passing = UDIContext(tag: "passing")
      context = passing
      let ended = Tally()
      let started = Tally()
      let waiters = (0..<10_000).map { index in
        Task {
          started.add()
          defer { ended.add() }
          let search: UDISearch = index % 4 < 2 ? .descendants : .ancestors
          return try await passing.linkWhenAvailable((any Service).self, search: search)
        }
      }
      await eventually { started.count >= 10_000 }
      for (index, waiter) in waiters.enumerated() where index % 2 == 0 { waiter.cancel() }
      passing.bind(plain, as: (any Service).self)
      for (index, waiter) in waiters.enumerated() {
        switch await waiter.result {
        case .success(let found): #expect(found === plain)
        case .failure(let error):
          #expect(error is CancellationError)
          #expect(index % 2 == 0, "who was not cancelled has to find it")
        }
      }
      #expect(ended.count == 10_000)
    }
    #expect(context == nil, "nobody holds the context")
  }

  @Test("Waiters on many threads, while contexts move and objects come and go")
  func storm() async throws {
    let root = root
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let branch = try left.makeChild(tag: "branch")
    let leaf = try branch.makeChild(tag: "leaf")
    let kept = Plain()
    try await withThrowingTaskGroup { group in
      for index in 0..<200 {
        group.addTask {
          let context = [root, left, right, leaf][index % 4]
          if index % 4 == 3 {
            _ = try await context.linkWhenAvailable((any Service).self, search: .ancestors)
          } else {
            for await found in context.updates(of: (any Other).self, search: .ancestors) where found != nil { return }
          }
        }
      }
      group.addTask {
        for round in 0..<300 {
          try (round % 2 == 0 ? right : left).addChild(branch)
          let passing = Plain()
          branch.bind(passing, as: (any Service).self)
          await Task.yield()
        }
        root.multiBind(kept, as: (any Service).self)
        root.multiBind(kept, as: (any Other).self)
      }
      try await group.waitForAll()
    }
    #expect(leaf.link((any Service).self, search: .ancestors) === kept)
  }
}

extension LinkWhenAvailableTests {
  @Test("What somebody else had made is found: by a waiter off the main actor, and after a failure")
  func madeElsewhere() async throws {
    let root = root
    root.register((any Service).self, lifetime: .context) { @MainActor in Plain() }
    let waiter = Task.detached {
      try await withReporter(.silent) { try await root.linkWhenAvailable((any Service).self) }
    }
    for _ in 0..<20 { await Task.yield() }
    let made = try await root.obtain((any Service).self)
    #expect(try await waiter.value === made)

    root.register((any Alpha).self, lifetime: .context) { context in
      Made(parts: [try context.require((any Beta).self)])
    }
    let second = Task.detached {
      try await withReporter(.silent) { try await root.linkWhenAvailable((any Alpha).self) }
    }
    await eventually { root.nodeCountsOfWatchers.count == 1 && root.consumersAreWaiting }
    let part = Made()
    root.bind(part, as: (any Beta).self)
    let alpha = try #require(root.link((any Alpha).self))
    #expect(try await second.value === alpha)
  }

  @Test("A consumer hears of what is kept weakly and made anew by others, and of a reset of the user's own storage")
  func keptWeakly() async throws {
    root.register((any Service).self, lifetime: .weak) { Plain() }
    var updates = root.updates(of: (any Service).self).makeAsyncIterator()
    weak let first = try await #require(updates.next())
    #expect(first == nil, "nobody holds it")
    let held = try #require(root.link((any Service).self))
    #expect(try await #require(updates.next()) === held)
    root.register((any Other).self, lifetime: UDILifetime("session", storage: .strong)) { Plain() }
    var others = root.updates(of: (any Other).self).makeAsyncIterator()
    let one = try await #require(others.next())
    root.reset()
    let two = try await #require(others.next())
    #expect(one != nil && two != nil && one !== two)
  }

  @Test("A deadline ends the wait with the explanation; what comes before is found")
  func deadline() async throws {
    let (root, clock) = (root, ManualClock())
    let task = Task { try await root.linkWhenAvailable((any Service).self, within: .seconds(3), clock: clock) }
    await eventually { clock.sleeperCount > 0 }
    clock.advance(by: .seconds(2))
    let member = Member().attached(to: root)
    let other = Task { @Sendable in
      try await root.linkWhenAvailable((any Other).self, within: .seconds(30), clock: clock)
    }
    await eventually { clock.sleeperCount >= 2 }
    root.bind(member, as: (any Other).self)
    #expect(try await other.value === member)
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: UDILinkError.self) { try await task.value }
    #expect(error?.explanation.fullPath == ["root"] && error?.description.contains("Service") == true)
    clock.advance(by: .seconds(100))
  }

  @Test func theLongestLimitIsNone() async throws {
    let (root, plain) = (root, Plain())
    let task = Task { try await root.linkWhenAvailable((any Service).self, within: .seconds(Int.max)) }
    root.bind(plain, as: (any Service).self)
    #expect(try await task.value === plain)
    root.provide(plain).onClose { _ in await Task.yield() }
    try await root.close(within: .seconds(Int.max))
  }

  @Test("A deadline that is over already: one lookup, and the explanation", arguments: [Duration.zero, .seconds(-1)])
  func deadlineThatIsOver(_ limit: Duration) async throws {
    let plain = Plain()
    root.register((any Alpha).self, lifetime: .context) { throw OutOfOrder() }
    let (error, _) = await MisuseLog.during {
      await #expect(throws: UDILinkError.self) { try await root.linkWhenAvailable((any Alpha).self, within: limit) }
    }
    guard case .failed = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    let member = Member().attached(to: root)
    let missing = await #expect(throws: UDILinkError.self) {
      try await member.linkWhenAvailable((any Service).self, within: limit)
    }
    #expect(missing?.chain.first?.typeName == "UDITests.Member")
    root.bind(plain, as: (any Service).self)
    #expect(try await root.linkWhenAvailable((any Service).self, within: limit) === plain)
  }
}

/// What a look finds of initialisers whose instances are there.
@Suite(.unlessItHangs, .silent) struct InitialisersInLooksTests {
  private final class Token: Sendable {}
  private final class Store: Service {
    let token: Token
    init(token: Token) { self.token = token }
  }

  /// A look takes what is kept, and obtains no parameters for it.
  @Test(arguments: [UDILifetime.context, .scope]) func whatIsKept(_ lifetime: UDILifetime) async throws {
    let (root, tokens) = (UDIContext(tag: "root"), Tally())
    let scope = try root.makeScope(tag: "scope")
    root.register(Token.self, lifetime: .unique) { () async in
      tokens.add()
      return Token()
    }
    root.register(Store.self, lifetime: lifetime, using: Store.init(token:)).implements((any Service).self)
    let store = try await scope.obtain(Store.self)
    var updates = scope.updates(of: (any Service).self).makeAsyncIterator()
    #expect(await updates.next() as? Store === store)
    #expect(try await scope.linkWhenAvailable((any Service).self) === store)
    #expect(tokens.count == 1)
  }

  /// Outside a scope there is nothing, which is an answer.
  @Test func outsideAScope() async {
    let root = UDIContext(tag: "root")
    root.register(Token.self) { Token() }
    root.register(Store.self, lifetime: .scope, using: Store.init(token:))
    var updates = root.updates(of: Store.self).makeAsyncIterator()
    let first = await updates.next()
    #expect(first != nil && first! == nil)
  }
}
