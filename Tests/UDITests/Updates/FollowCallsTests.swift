import Testing

@testable import UDI

/// The executor of an actor whose jobs a test runs one by one, the last one first.
private final class Turns: SerialExecutor {
  private let jobs = Locked<[UnownedJob]>([])

  func enqueue(_ job: UnownedJob) { jobs.withLock { $0.append(job) } }

  /// Waits until the actor has so many jobs.
  func wait(for count: Int) async { while jobs.withLock({ $0.count }) < count { await Task.yield() } }

  /// Runs a job.
  func take() {
    let job = jobs.withLock { $0.removeLast() }
    unsafe job.runSynchronously(on: asUnownedSerialExecutor())
  }
}

private actor Clerk: UDIFinalObject {
  nonisolated let _attachedContext = UDIAttachment()
  nonisolated let turns = Turns()
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe turns.asUnownedSerialExecutor() }
  nonisolated let calls = Tally()

  func run(_ body: @Sendable () -> Void) { body() }
}

/// Notes its calls, which may come on any thread.
private final class Listener: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  private let state = Locked(([String?](), inside: 0, most: 0))

  var seen: [String?] { state.withLock { $0.0 } }
  /// How many calls there were at once, at most.
  var most: Int { state.withLock { $0.most } }

  /// Notes a call when it ends.
  func note(_ found: (any Loose)?, while body: () -> Void = {}) {
    state.withLock {
      $0.inside += 1
      $0.most = max($0.most, $0.inside)
    }
    body()
    state.withLock {
      $0.inside -= 1
      $0.0.append(found?.label)
    }
  }
}

/// In which order the calls of `follow` come.
@MainActor @Suite(.unlessItHangs) struct FollowCallsTests {
  let root = UDIContext(tag: "root")

  @Test(
    "No call comes once an actor has cancelled, or has attached itself elsewhere, while the call waited for the actor",
    arguments: [true, false])
  func actorIsBusy(cancels: Bool) async {
    let (plain, other, clerk) = (Plain(), UDIContext(tag: "other"), Clerk().attached(to: root))
    let following = clerk.follow((any Loose).self) { clerk, _ in clerk.calls.add() }
    await clerk.turns.wait(for: 1)
    clerk.turns.take()
    #expect(await settle([root]) && clerk.calls.count == 1)
    root.bind(plain, as: (any Loose).self)
    await clerk.turns.wait(for: 1)
    let end = Task.detached {
      await clerk.run { if cancels { following.cancel() } else { clerk.attachedContext = other } }
    }
    await clerk.turns.wait(for: 2)
    clerk.turns.take()
    await end.value
    clerk.turns.take()
    #expect(await settle([root]) && clerk.calls.count == 1 && root.nodeCountsOfWatchers == [])
  }

  @Test("Calls of a closure of no actor do not overlap, and the last one has the last state")
  func noActor() async {
    let (root, plain, listener) = (root, Plain("bound"), Listener().attached(to: root))
    await onOwnThread {
      listener.follow((any Loose).self) { listener, found in
        listener.note(found) {
          guard found == nil else { return }
          root.bind(plain, as: (any Loose).self)
          letTasksRun()
        }
      }
    }
    #expect(await settle([root]) && listener.seen == [nil, "bound"] && listener.most == 1)
  }

  @Test("The same if another thread makes many changes meanwhile")
  func noActorManyChanges() async {
    let (root, plains, last) = (root, [Plain("0"), Plain("1")], Plain("last"))
    for _ in 0..<50 {
      let listener = Listener().attached(to: root)
      let changes = Task.detached {
        for number in 0..<50 { root.bind(plains[number % 2], as: (any Loose).self) }
        root.bind(last, as: (any Loose).self)
      }
      await onOwnThread { listener.follow((any Loose).self) { listener, found in listener.note(found) } }
      await changes.value
      #expect(await settle([root]) && listener.seen.last == "last" && listener.most == 1)
    }
  }

  @Test("A factory of the first look may attach the object elsewhere: what begins there has the last call")
  func attachedElsewhereByTheFirstLook() async {
    let (other, listener) = (UDIContext(tag: "other"), Listener().attached(to: root))
    let there = Plain("there")
    other.bind(there, as: (any Loose).self)
    @Sendable func follow() { listener.follow((any Loose).self) { listener, found in listener.note(found) } }
    root.register((any Loose).self) {
      listener.attachedContext = other
      follow()
      return Plain("here") as any Loose
    }
    follow()
    #expect(await settle([root, other]) && listener.seen == ["there"])
    #expect(root.nodeCountsOfWatchers == [] && other.nodeCountsOfWatchers == [1])
  }
}
