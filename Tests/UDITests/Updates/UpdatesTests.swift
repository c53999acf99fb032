import Testing
import UDI

/// `updates(of:)`: what a lookup finds, as it changes.
struct UpdatesTests {
  let root = UDIContext(tag: "root")

  @Test("The first element comes at once, also where there is nothing")
  func first() async throws {
    var nothing = root.updates(of: (any Service).self).makeAsyncIterator()
    #expect(try await #require(nothing.next()) == nil)
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    var something = root.updates(of: (any Service).self).makeAsyncIterator()
    #expect(try await #require(something.next()) === plain)
  }

  @Test("Binding, replacing, unbinding and the death of an object are told")
  func changes() async throws {
    let child = try root.makeChild(tag: "child")
    var updates = root.updates(of: (any Service).self).makeAsyncIterator()
    #expect(try await #require(updates.next()) == nil)
    let first = Plain()
    child.bind(first, as: (any Service).self)
    #expect(try await #require(updates.next()) === first)
    let second = Plain()
    child.bind(second, as: (any Service).self)
    #expect(try await #require(updates.next()) === second)
    child.unbind((any Service).self)
    #expect(try await #require(updates.next()) == nil)
    var member: Member? = Member().attached(to: child)
    member?.bind(member!, as: (any Service).self)
    weak let given = try await #require(updates.next())
    #expect(given === member)
    member = nil
    #expect(given == nil, "what was given is not kept alive")
    #expect(try await #require(updates.next()) == nil)
  }

  @Test("When the root goes, its child still knows who waits there, and forgets them when they go")
  func rootGoes() throws {
    var root: UDIContext? = UDIContext(tag: "root")
    let child = try #require(root).makeChild(tag: "child")
    do {
      let iterator = child.updates(of: (any Service).self).makeAsyncIterator()
      #expect(child.nodeCountsOfWatchers == [2])
      root = nil
      #expect(child.nodeCountsOfWatchers == [1])
      withExtendedLifetime(iterator) {}
    }
    #expect(child.nodeCountsOfWatchers == [])
    let plain = Plain()
    child.bind(plain, as: (any Service).self)
  }

  #if DEBUG
    @Test("Copies of an iterator share what they have been told: each change goes to one of them")
    @MainActor func copies() async throws {
      let iterator = root.updates(of: (any Service).self).makeAsyncIterator()
      var first = iterator
      #expect(try await #require(first.next()) == nil)
      var told: [String] = []
      @MainActor func tellNext() async {
        var copy = iterator
        if let found = await copy.next() {
          told.append(found === plain ? "plain" : found === other ? "other" : "nothing")
        }
      }
      let (plain, other) = (Plain(), Plain())
      let tasks = [Task { await tellNext() }, Task { await tellNext() }]
      await settle([root])
      root.bind(plain, as: (any Service).self)
      await settle([root])
      #expect(told == ["plain"])
      root.bind(other, as: (any Service).self)
      for task in tasks { await task.value }
      #expect(told == ["plain", "other"])
    }
  #endif

  @Test("Moves of contexts are told, downwards and upwards")
  func moves() async throws {
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let branch = try left.makeChild(tag: "branch")
    let leaf = try branch.makeChild(tag: "leaf")
    let (inLeaf, inLeft, inRight) = (Plain(), Plain(), Plain())
    leaf.multiBind(inLeaf, as: (any Service).self)
    left.multiBind(inLeft, as: (any Other).self)
    right.multiBind(inRight, as: (any Other).self)
    var down = left.updates(of: (any Service).self).makeAsyncIterator()
    var up = leaf.updates(of: (any Other).self, search: .ancestors).makeAsyncIterator()
    #expect(try await #require(down.next()) === inLeaf)
    #expect(try await #require(up.next()) === inLeft)
    try right.addChild(branch)
    #expect(try await #require(down.next()) == nil)
    #expect(try await #require(up.next()) === inRight)
    // The new path upwards is watched, too, and the old one no longer.
    right.unbind((any Other).self)
    #expect(try await #require(up.next()) == nil)
    root.multiBind(inLeft, as: (any Other).self)
    #expect(try await #require(up.next()) === inLeft)
    branch.removeFromParent()
    #expect(try await #require(up.next()) == nil)
  }

  @Test("Names, the local search and a change of the context's own search")
  func requests() async throws {
    let child = try root.makeChild(tag: "child")
    let (named, inChild) = (Plain(), Plain())
    var byName = root.updates(of: (any Service).self, named: "a").makeAsyncIterator()
    var local = root.updates(of: (any Service).self, search: .local).makeAsyncIterator()
    var own = child.updates(of: (any Other).self).makeAsyncIterator()
    #expect(try await #require(byName.next()) == nil)
    #expect(try await #require(local.next()) == nil)
    #expect(try await #require(own.next()) == nil)
    child.bind(named, as: (any Service).self, named: "a")
    #expect(try await #require(byName.next()) === named)
    child.bind(inChild, as: (any Service).self)
    root.multiBind(inChild, as: (any Service).self)
    #expect(try await #require(local.next()) === inChild)
    root.multiBind(inChild, as: (any Other).self)
    child.search = .ancestors
    #expect(try await #require(own.next()) === inChild)
  }

  @Test("Providers are told of, and what is kept is given once")
  func providers() async throws {
    var updates = root.updates(of: (any Service).self).makeAsyncIterator()
    #expect(try await #require(updates.next()) == nil)
    root.register((any Service).self, lifetime: .context) { Plain() }
    let made = try await #require(updates.next())
    #expect(made === root.link((any Service).self))
    root.reset()
    let again = try await #require(updates.next())
    #expect(again != nil && again !== made)
    root.unregister((any Service).self)
    #expect(try await #require(updates.next()) == nil)
  }

  @Test("Ends when the context goes, which it does not keep alive")
  func contextGoes() async throws {
    weak var context: UDIContext?
    var updates: UDIUpdates<any Service>.AsyncIterator
    do {
      let passing = UDIContext(tag: "passing")
      context = passing
      updates = passing.updates(of: (any Service).self).makeAsyncIterator()
      #expect(try await #require(updates.next()) == nil)
    }
    #expect(context == nil)
    #expect(await updates.next() == nil)
    #expect(await updates.next() == nil)
  }

  @Test("Ends when the task is cancelled, before and while it waits")
  func cancellation() async {
    let task = Task { [root] in
      var count = 0
      for await _ in root.updates(of: (any Service).self) { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value <= 1)
    let given = Tally()
    let waiting = Task { [root] in
      for await _ in root.updates(of: (any Service).self) { given.add() }
    }
    await eventually { given.count > 0 }
    waiting.cancel()
    await waiting.value
    #expect(given.count == 1)
  }

  @Test("Many consumers see the last state, whatever happens meanwhile")
  func manyConsumers() async throws {
    let last = Plain()
    let root = root
    await withTaskGroup { group in
      for _ in 0..<100 {
        group.addTask {
          for await found in root.updates(of: (any Service).self) where found === last { return }
        }
      }
      group.addTask {
        for _ in 0..<200 {
          let passing = Plain()
          root.bind(passing, as: (any Service).self)
          root.unbind((any Service).self)
        }
        root.bind(last, as: (any Service).self)
      }
    }
    #expect(root.link((any Service).self) === last)
  }

  @Test("What a provider does inside is no news, and so causes none")
  func providersAreQuiet() async throws {
    let made = Tally()
    root.register((any Service).self, lifetime: .weak) {
      made.add()
      return Plain()
    }
    root.register(Int.self, lifetime: .context) { 5 }
    let root = root
    let given = Tally()
    let consumers = [
      Task { for await _ in root.updates(of: (any Service).self) { given.add() } },
      Task { for await _ in root.updates(of: Int.self) { given.add() } },
    ]
    await eventually { given.count >= 2 }
    let plain = Plain()
    // Of no interest, so this only gives a turn to whoever would be notified of something.
    for index in 0..<1000 {
      root.bind(plain, as: (any Other).self, named: UDIName(index % 3))
      await Task.yield()
    }
    #expect(made.count == 1 && given.count == 2)
    for consumer in consumers { consumer.cancel() }
    for consumer in consumers { await consumer.value }
  }

  @Test("A provider that is registered where something dead is bound is told of")
  func providerOverDeadBinding() async throws {
    do { root.bind(Plain(), as: (any Service).self) }
    var updates = root.updates(of: (any Service).self).makeAsyncIterator()
    #expect(try await #require(updates.next()) == nil)
    do { root.bind(Plain(), as: (any Service).self) }
    root.register((any Service).self, lifetime: .context) { Plain("made") }
    #expect(try await #require(updates.next() as? Plain).label == "made")
  }

  @Test("A sequence that somebody keeps does not keep the context")
  func keptSequence() async throws {
    weak var context: UDIContext?
    var updates: UDIUpdates<any Service>
    do {
      let passing = UDIContext(tag: "passing")
      context = passing
      updates = passing.updates(of: (any Service).self)
    }
    #expect(context == nil)
    for await _ in updates { Issue.record("there is nothing to tell") }
    updates = root.updates(of: (any Service).self)
    for await _ in updates { break }
  }

  #if DEBUG
    @Test("A context in the middle of a consumer's way up may go first")
    func middleGoesFirst() async throws {
      var middle: UDIContext? = try root.makeChild(tag: "middle")
      let leaf = try #require(middle).makeChild(tag: "leaf")
      var updates: UDIUpdates<any Service>.AsyncIterator? =
        leaf.updates(of: (any Service).self, search: .ancestors).makeAsyncIterator()
      #expect(try await #require(updates?.next()) == nil)
      #expect(leaf.nodeCountsOfWatchers == [3])
      leaf.removeFromParent()
      middle?.removeFromParent()
      middle = nil
      #expect(leaf.nodeCountsOfWatchers == [2], "the consumer is entered where there is no context any more")
      // The watcher leaves all its places, one of which would be freed memory.
      updates = nil
    }
  #endif

  @Test("On the main actor also what is not Sendable")
  @MainActor func mainActor() async throws {
    let screen = Screen()
    var updates = root.updates(of: (any Display).self).makeAsyncIterator()
    #expect(try await #require(updates.next()) == nil)
    root.bind(screen, as: (any Display).self)
    #expect(try await #require(updates.next()) === screen)
    #expect(try await root.linkWhenAvailable((any Display).self) === screen)
  }
}

private protocol Display: AnyObject {}
@MainActor private final class Screen: @MainActor Display {
  /// Changes above are no news to a consumer that finds something nearer. Otherwise a provider would make another
  /// instance.
  @MainActor @Test func whatIsAboveSomethingNearerIsNoNews() async throws {
    let top = UDIContext(tag: "top")
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let makings = Tally()
    child.register((any Service).self) {
      makings.add()
      return Plain("made")
    }
    let follower = Follower(child.updates(of: (any Service).self))
    await settle([child])
    #expect(makings.count == 1 && follower.take() == ["made"])
    let above = Plain("above")
    root.bind(above, as: (any Service).self)
    try top.addChild(root)
    root.removeFromParent()
    root.unbind((any Service).self)
    await settle([child, root])
    #expect(makings.count == 1 && follower.take().isEmpty)
    // When what is nearer goes, changes above become news, at the place where the context is by now.
    try top.addChild(root)
    child.unregister((any Service).self)
    await settle([child])
    #expect(follower.take() == [nil])
    top.bind(above, as: (any Service).self)
    await settle([child])
    #expect(follower.take() == ["above"])
    root.removeFromParent()
    await settle([child])
    #expect(follower.take() == [nil])
    await follower.end()
  }
}
