import Testing
import UDI

/// The consumers of `updates(ofAll:)`: how they end, what they keep alive, where they run, and what slow ones are given.
@Suite(.unlessItHangs) struct FollowingAllTests {
  let root = UDIContext(tag: "root")

  // MARK: - The end, and what is kept

  @Test("Ends when the context goes, which neither the sequence nor its iterator keeps")
  func contextGoes() async throws {
    weak var context: UDIContext?
    let sequence: UDIResults<[(name: UDIName?, dependency: any Module)]>
    var updates: UDIResults<[(name: UDIName?, dependency: any Module)]>.AsyncIterator
    do {
      let passing = UDIContext(tag: "passing")
      context = passing
      sequence = passing.updates(ofAll: (any Module).self)
      updates = sequence.makeAsyncIterator()
      #expect(try await #require(updates.next()).isEmpty)
    }
    #expect(context == nil)
    #expect(await updates.next() == nil)
    #expect(await updates.next() == nil)
    for await _ in sequence { Issue.record("there is nothing to tell") }
  }

  @Test("Ends when closing begins")
  func closing() async throws {
    let (root, given) = (root, Latch())
    let child = try root.makeChild(tag: "child")
    let follower = Task {
      for await _ in child.updates(ofAll: (any Module).self) { given.arrive() }
    }
    await given.wait()
    root.provide(1).onClose { _ in await follower.value }
    try await root.close()
    for await _ in child.updates(ofAll: (any Module).self) { Issue.record("the context is closed") }
  }

  @Test("Ends when the task is cancelled, before and while it waits")
  func cancellation() async {
    let (root, given) = (root, Latch())
    let cancelled = Task {
      await eventually { Task.isCancelled }
      for await _ in root.updates(ofAll: (any Module).self) { Issue.record("the task is cancelled") }
    }
    cancelled.cancel()
    await cancelled.value
    let waiting = Task {
      for await _ in root.updates(ofAll: (any Module).self) { given.arrive() }
    }
    await given.wait()
    waiting.cancel()
    await waiting.value
  }

  @Test("Ends without an element when the task is cancelled while a factory fails")
  func cancellationInALook() async {
    let root = root
    root.register((any Module).self) { () -> any Module in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      throw OutOfOrder()
    }
    let task = Task {
      await withReporter(.silent) {
        var updates = root.updates(ofAll: (any Module).self).makeAsyncIterator()
        return await updates.next() == nil
      }
    }
    #expect(await task.value)
  }

  @Test("What was given is not kept alive: held, dropped and referred to weakly")
  func lifetimes() async throws {
    let child = try root.makeChild(tag: "child")
    var updates = root.updates(ofAll: (any Module).self).makeAsyncIterator()
    var held: Plain? = Plain("held")
    weak let weakly = held
    var member: Member? = Member().attached(to: child)
    weak let weakMember = member
    child.bind(held!, as: (any Module).self)
    member!.bind(member!, as: (any Module).self, named: "a")
    child.provide(Plain("owned") as any Module, as: (any Module).self, named: "b")
    child.register((any Module).self, named: "c", lifetime: .unique) { Plain("unique") }
    weak var unique: AnyObject?
    do {
      let found = try #require(await updates.next())
      #expect(found.map { ($0.dependency as? any Loose)?.label } == ["held", "member", "owned", "unique"])
      unique = found.last?.dependency
      #expect(unique != nil)
    }
    #expect(unique == nil)
    member = nil
    #expect(weakMember == nil)
    #expect(try #require(await updates.next()).map(\.name) == [nil, "b", "c"])
    held = nil
    #expect(weakly == nil)
    #expect(root.linkAll((any Module).self).count == 2)
    #expect(try #require(await updates.next()).map(\.name) == ["b", "c"])
    withExtendedLifetime((held, member)) {}
  }

  // MARK: - Several consumers, and slow ones

  @Test("After 10,000 changes, a slow consumer is given the last state, and only that")
  func slow() async throws {
    let child = try root.makeChild(tag: "child")
    let first = Plain("first")
    root.bind(first, as: (any Module).self)
    var updates = root.updates(ofAll: (any Module).self).makeAsyncIterator()
    #expect(try #require(await updates.next()).count == 1)
    weak var passed: Plain?
    for number in 0..<10_000 {
      let plain = Plain("\(number)")
      child.bind(plain, as: (any Module).self, named: UDIName(number % 7))
      passed = plain
    }
    #expect(passed == nil)
    let last = Plain("last")
    child.bind(last, as: (any Module).self)
    let found = try #require(await updates.next())
    #expect(found.map(\.name) == [nil, nil])
    #expect(found.first?.dependency === first && found.last?.dependency === last)
    child.unbind((any Module).self)
    #expect(try #require(await updates.next()).count == 1)
  }

  @Test("Two consumers of one sequence are given every state, each for itself")
  @MainActor func two() async {
    let updates = root.updates(ofAll: (any Module).self)
    let (first, second) = (AllFollower(updates), AllFollower(updates))
    let plain = Plain()
    await settle([root])
    root.bind(plain, as: (any Module).self)
    await settle([root])
    await first.end()
    root.unbind((any Module).self)
    await settle([root])
    #expect(first.seen == [[], ["plain"]])
    #expect(second.seen == [[], ["plain"], []])
    await second.end()
  }

  @Test("Many consumers see the last state, whatever several threads change meanwhile")
  func manyThreads() async throws {
    let (root, last) = (root, Plain())
    let children = try (0..<4).map { try root.makeChild(tag: "\($0)") }
    await withTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          for await found in root.updates(ofAll: (any Module).self)
          where found.count == 4 && found.allSatisfy({ $0.dependency === last }) { return }
        }
      }
      for child in children {
        group.addTask {
          for number in 0..<200 {
            let passing = Member().attached(to: child)
            passing.bind(passing, as: (any Module).self, named: UDIName(number % 3))
            if number % 50 == 0 { try? root.addChild(child) }
          }
          child.multiBind(last, as: (any Module).self)
        }
      }
    }
    #expect(root.linkAll((any Module).self).count == 4)
  }

  // MARK: - Where it runs

  private final class OnMain: Module {
    @MainActor init() {}
  }

  @Test("What belongs to the main actor is made there, and nothing is reported")
  func madeOnTheMainActor() async throws {
    let plain = Plain()
    root.bind(plain, as: (any Module).self, named: "a")
    root.register((any Module).self, lifetime: .context) { @MainActor in OnMain() as any Module }
    let (found, misuse) = await MisuseLog.during {
      var updates = root.updates(ofAll: (any Module).self).makeAsyncIterator()
      return await updates.next()
    }
    #expect(found?.map(\.name) == ["a", nil] && misuse.isEmpty, "\(misuse)")
    #expect(found?.last?.dependency === root.link((any Module).self))
  }

  @Test("On the main actor also what is not Sendable, from a context and from an object")
  @MainActor func mainActor() async throws {
    let (screen, panel) = (Screen(), Screen())
    var updates = root.updates(ofAll: (any Display).self).makeAsyncIterator()
    #expect(try #require(await updates.next()).isEmpty)
    root.bind(screen, as: (any Display).self, named: "screen")
    #expect(try #require(await updates.next()).map(\.name) == ["screen"])
    panel.attachedContext = root
    panel.bind(panel, as: (any Display).self)
    for await displays in panel.updates(ofAll: (any Display).self) {
      #expect(displays.map(\.name) == ["screen", nil] && displays.last?.dependency === panel)
      break
    }
  }

  @Test("What was registered as not Sendable is not given out as Sendable")
  @MainActor func reach() async throws {
    let (local, anywhere) = (Loner(), Loner())
    root.bind(local as any Hermit, as: (any Hermit).self)
    root.bind(anywhere, as: (any Hermit & Sendable).self, named: "a")
    var updates = root.updates(ofAll: (any Hermit & Sendable).self).makeAsyncIterator()
    #expect(try #require(await updates.next()).map(\.name) == ["a"])
    var all = root.updates(ofAll: (any Hermit).self).makeAsyncIterator()
    #expect(try #require(await all.next()).map(\.name) == [nil, "a"])
  }

  @Test("An object's sequence stays with the context that the object was attached to")
  func ofAnObject() async throws {
    let (member, plain) = (Member().attached(to: root), Plain())
    var updates = member.updates(ofAll: (any Module).self).makeAsyncIterator()
    member.attachedContext = UDIContext(tag: "elsewhere")
    #expect(try #require(await updates.next()).isEmpty)
    root.bind(plain, as: (any Module).self)
    #expect(try #require(await updates.next()).count == 1)
  }
}

private protocol Display: AnyObject {}
@MainActor private final class Screen: @MainActor UDIObject, @MainActor Display {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}

private protocol Hermit: AnyObject {}
private final class Loner: Hermit, Sendable {}
