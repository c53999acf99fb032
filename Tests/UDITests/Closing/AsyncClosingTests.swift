import Dispatch
import Testing

@testable import UDI

/// Closing what asynchronous factories make.
@Suite(.unlessItHangs, .silent) struct AsyncClosingTests {
  let context = UDIContext(tag: "context")
  let journal = Journal()

  /// While the contexts end, one after the other, another call of `close()` still has something to wait for.
  @Test func theEndIsAwaitedToo() async throws {
    let (context, isAwaited) = (context, Locked<[Bool]>([]))
    _ = try context.makeChild(tag: "child")
    context.provide(1).onClose { _ in }
    context.register((any Service).self, lifetime: .context) {
      Farewell { isAwaited.withLock { $0.append(ClosingPart.join(context, .closed(), nil, on: nil) != nil) } }
    }
    _ = context.link((any Service).self)
    try await context.close()
    #expect(isAwaited.current == [true])
    #expect(ClosingPart.join(context, .closed(), nil, on: nil) == nil)
  }

  /// A creation is cancelled before its task is known.
  @Test func theEndOfACreationIsAwaitedBeforeItsStart() async throws {
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    let provider = context.change { node, _ in
      var found: Provider?
      node.treeLocked.providers.forEach { found = $0.provider }
      return found as? AsyncFactory
    }
    let keeper = InstanceKeeper(provider: try #require(provider), cache: nil)
    let (creation, journal) = (AsyncCreation(on: nil), journal)
    context.change { _, _ in creation.begin(keeper) }
    let number = context.change { _, _ in creation.add(.task(nil, through: [])) }
    creation.cancel(closing: ["context"])
    let waiting = Task {
      await creation.wait(number)
      journal.add("ended")
    }
    for _ in 0..<100 { await Task.yield() }
    creation.start {
      defer { journal.add("begun") }
      do { try creation.beginFactory() } catch { return .failure(error) }
      journal.add("made")
      return .success(OwnedInstance(Instance(Plain()), .anywhere))
    }
    await waiting.value
    #expect(journal.all == ["begun", "ended"])
  }

  /// Nobody has to wait for a thread, unless the caller is on an actor, which others need.
  @Test func closersBeginOnTheThreadOfWhoCloses() async throws {
    let threads = Locked<[UInt]>([])
    func end(on _: isolated (any Actor)?) async throws -> Bool {
      try await context.withScope(tag: "scope") { scope in
        scope.provide(1).onClose { _ in threads.withLock { $0.append(currentThread()) } }
        threads.withLock { $0.append(currentThread()) }
      }
      return Set(threads.withLock { exchange(&$0, with: []) }).count == 1
    }
    #expect(try await Task.detached { try await end(on: nil) }.value)
    #expect(try await !end(on: MainActor.shared))
  }

  /// What a task closes that a factory has started at once is no part of what the factory does.
  @Test func aFactoryGoesOnBeforeWhatItCloses() async throws {
    let (context, journal) = (context, journal)
    let scope = try context.makeScope(tag: "scope")
    scope.provide("scope").onClose { journal.add($0) }
    let closing = Locked<Task<Void, any Error>?>(nil)
    context.register(Plain.self, lifetime: .unique) {
      let task = Task.immediate { try await scope.close() }
      closing.withLock { $0 = task }
      journal.add("made")
      return Plain()
    }
    _ = try context.require(Plain.self)
    try await closing.withLock { $0 }?.value
    #expect(journal.all == ["made", "scope"])
  }

  /// An instance that nobody wants any more is being closed when the context is.
  @Test func theCloserOfWhatWasMadeInVainIsAwaited() async throws {
    let (context, journal, begun, release, closes, go) = (context, journal, Latch(), Latch(), Latch(), Latch())
    context.register(Plain.self, lifetime: .context) {
      begun.arrive()
      await release.wait()
      return Plain()
    }.onClose { _ in
      closes.arrive()
      await go.wait()
      journal.add("closed")
    }
    let asking = Task { try await context.obtain(Plain.self) }
    await begun.wait()
    asking.cancel()
    await #expect(throws: CancellationError.self) { try await asking.value }
    release.arrive()
    await closes.wait()
    let closing = Task {
      try await context.close()
      journal.add("ended")
    }
    await eventually { context.change({ node, _ in node.treeLocked.state.isEnding }) }
    for _ in 0..<100 { await Task.yield() }
    go.arrive()
    try await closing.value
    #expect(journal.all == ["closed", "ended"])
  }

  /// What is made although its provider was reset in the meantime is closed, if the context is closed before it is made.
  @Test(arguments: [false, true]) func whatAResetHasDroppedIsClosed(_ takesArguments: Bool) async throws {
    let (context, journal, begun, go) = (context, journal, Latch(), Latch())
    if takesArguments {
      context.register(Plain.self, lifetime: .context) { (_, _: Int) async in
        begun.arrive()
        await go.wait()
        return Plain()
      }.onClose { _ in
        journal.add("closed")
      }
    } else {
      context.register(Plain.self, lifetime: .context) {
        begun.arrive()
        await go.wait()
        return Plain()
      }.onClose { _ in
        journal.add("closed")
      }
    }
    let waiting = Task {
      takesArguments ? try? await context.obtain(Plain.self, with: 1) : try? await context.obtain(Plain.self)
    }
    await begun.wait()
    context.reset()
    let closing = Task { try await context.close() }
    await eventually { context.change({ node, _ in node.treeLocked.state.isEnding }) }
    go.arrive()
    try await closing.value
    _ = await waiting.value
    #expect(journal.all == ["closed"])
  }

  /// What was made too late, after a reset, is closed first. Meanwhile, lookups still find the instance that is kept.
  @Test func whatIsKeptIsFoundUntilItIsClosed() async throws {
    let (context, begun, go) = (context, Latch(), Latch())
    let (runs, found) = (Locked(0), Locked<[Bool]>([]))
    context.register((any Service).self, lifetime: .context) {
      let run = runs.withLock { runs in
        runs += 1
        return runs
      }
      if run == 1 {
        begun.arrive()
        await go.wait()
      }
      return Plain()
    }.onClose { _ in
      found.withLock { $0.append(context.link((any Service).self) != nil) }
    }
    let waiting = Task { try? await context.obtain((any Service).self) }
    await begun.wait()
    context.reset()
    _ = try await context.obtain((any Service).self)
    let closing = Task { try await context.close() }
    await eventually { context.change({ node, _ in node.treeLocked.state.isEnding }) }
    go.arrive()
    try await closing.value
    _ = await waiting.value
    #expect(found.current == [true, true])
  }

  @Test(arguments: [false, true]) func aResetHidesNothingThatIsBeingMade(_ isAsynchronous: Bool) async throws {
    let (journal, begun, go, done) = (journal, Latch(), Latch(), Latch())
    let semaphore = DispatchSemaphore(value: 0)
    if isAsynchronous {
      context.register((any Service).self, lifetime: .context) {
        begun.arrive()
        await go.wait()
        journal.add("made")
        return Plain()
      }
      Task { [context] in
        _ = try? await context.obtain((any Service).self)
        done.arrive()
      }
    } else {
      context.register((any Service).self, lifetime: .context) {
        begun.arrive()
        semaphore.wait()
        journal.add("made")
        return Plain()
      }
      onThread { [context] in
        _ = context.link((any Service).self)
        done.arrive()
      }
    }
    await begun.wait()
    context.reset()
    #expect(!context.closeAtOnce())
    let closing = Task { [context] in
      try await context.close()
      journal.add("closed")
    }
    for _ in 0..<100 { await Task.yield() }
    go.arrive()
    semaphore.signal()
    try await closing.value
    await done.wait()
    #expect(journal.all == ["made", "closed"])
  }

  /// A scope that has nothing to close ends at once, whatever its factories and closers are.
  @Test func aScopeWithNothingToCloseEndsAtOnce() async throws {
    let journal = Journal()
    context.register((any Service).self, lifetime: .scope) { () async in Plain() }
    context.register((any Other).self, lifetime: .scope) { Plain() }.onClose { _ in journal.add("closed") }
    let scope = try context.makeScope(tag: "scope")
    scope.register((any Module).self, lifetime: .context) { Plain() }.onClose { _ in journal.add("closed") }
    _ = try await scope.obtain((any Service).self)
    #expect(scope.closeAtOnce() && journal.all.isEmpty)
    let other = try context.makeScope(tag: "scope")
    _ = try other.require((any Other).self)
    #expect(!other.closeAtOnce())
    try await other.close()
    #expect(journal.all == ["closed"])
  }

  /// Nobody waits for the child's close, which a factory there has begun. But then the parent's close has its error.
  @Test func anErrorThatACloseAboveGetsIsNotReported() async throws {
    let (context, closes, go) = (context, Latch(), Latch())
    let child = try context.makeChild(tag: "child")
    child.provide(1).onClose { _ in
      closes.arrive()
      await go.wait()
      throw OutOfOrder()
    }
    child.register((any Service).self, lifetime: .context) { _ async throws in
      try await child.close()
      return Plain()
    }
    let (failures, complaints) = await MisuseLog.during { () -> [UDIFailure]? in
      _ = try? await child.obtain((any Service).self)
      await closes.wait()
      let closing = Task { () -> [UDIFailure]? in
        do { try await context.close() } catch { return (error as? UDICloseError)?.failures }
        return nil
      }
      await eventually { context.change({ node, _ in node.treeLocked.state.isEnding }) }
      go.arrive()
      let failures = await closing.value
      for _ in 0..<100 { await Task.yield() }
      return failures
    }
    #expect(failures?.map(\.fullPath) == [["context", "child"]])
    #expect(complaints.isEmpty, "\(complaints)")
  }

  /// What is made although nobody wants it any more is closed, in a task that has not been cancelled.
  @Test func whatNobodyWantsIsClosedInATaskOfItsOwn() async throws {
    let (context, begun, latch, journal) = (context, Latch(), Latch(), journal)
    context.register((any Loose).self, lifetime: .context) {
      begun.arrive()
      await latch.wait()
      return Plain("late")
    }.onClose {
      journal.add("closed \($0.label), cancelled: \(Task.isCancelled)")
    }
    let waiting = Task { try await context.obtain((any Loose).self) }
    await begun.wait()
    waiting.cancel()
    _ = await waiting.result
    latch.arrive()
    await eventually { !journal.all.isEmpty }
    #expect(journal.all == ["closed late, cancelled: false"])
  }

  @Test func aLateInstanceDropsNoOther() async throws {
    let (context, begun, cancelled, journal) = (context, Latch(), Latch(), journal)
    context.register((any Loose).self, lifetime: .context) { (_, number: Int) in
      if number == 2 {
        begun.arrive()
        await withTaskCancellationHandler {
          await cancelled.wait()
        } onCancel: {
          cancelled.arrive()
        }
      }
      return Plain("\(number)")
    }.onClose {
      journal.add("closed \($0.label)")
    }
    _ = try await context.obtain((any Loose).self, with: 1)
    context.provide(0).onClose { _ in
      journal.add("found \(context.link((any Loose).self, with: 1)?.label ?? "nothing")")
    }
    let waiting = Task { try? await context.obtain((any Loose).self, with: 2) }
    await begun.wait()
    try await context.close()
    #expect(journal.all == ["found 1", "closed 2", "closed 1"])
    _ = await waiting.value
  }

  /// What an object's hook links does not help to make the object, so only the registrations count.
  @Test func whatWasMadeInAHookHasItsPlace() async throws {
    let journal = journal
    context.register(Member.self, lifetime: .context) {
      await Task.yield()
      return Member { member in
        member.bind(member, as: (any Other).self)
        _ = member.linkInLine((any Alpha).self)
      }
    }.onClose { _ in
      journal.add("object")
    }
    context.register((any Alpha).self, lifetime: .context) { context in
      Made(parts: [try context.require((any Other).self)])
    }.onClose { _ in
      journal.add("made of it")
    }
    _ = try await context.obtain(Member.self)
    try await context.close()
    #expect(journal.all == ["made of it", "object"])
  }

  @Test func everythingIsCancelledBeforeAnythingIsAwaited() async throws {
    let (child, begun) = (try context.makeChild(tag: "child"), Latch())
    child.register((any Other).self, lifetime: .context) { _ async throws -> any Other in
      begun.arrive()
      try await untilCancelled()
      return Plain()
    }
    context.register((any Service).self, lifetime: .context) { [child] _ in
      // The cancellation of the factory's task does not reach this task.
      _ = try await Task { try await child.obtain((any Other).self) }.value
      return Plain()
    }
    let waiting = Task { [context] in try? await context.obtain((any Service).self) }
    await begun.wait()
    try await context.close()
    #expect(await waiting.value == nil)
  }

  @Test func whatWasMadeIsClosedTheLastFirst() async throws {
    let journal = journal
    context.register((any Service).self, lifetime: .context) { context in
      _ = try await context.obtain((any Other).self)
      journal.add("made service")
      return Plain("service")
    }.onClose { _ in
      journal.add("closed service")
    }
    context.register((any Other).self, lifetime: .context) {
      await Task.yield()
      journal.add("made other")
      return Plain("other")
    }.onClose { _ in
      journal.add("closed other")
    }
    context.register((any Loose).self, lifetime: .context) { (_, number: Int) in
      await Task.yield()
      return Plain("\(number)")
    }.onClose { loose in
      journal.add("closed \(loose.label)")
    }
    _ = try await context.obtain((any Service).self)
    _ = try await context.obtain((any Loose).self, with: 1)
    _ = try await context.obtain((any Loose).self, with: 2)
    try await context.close()
    #expect(journal.all == ["made other", "made service", "closed 2", "closed 1", "closed service", "closed other"])
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Service).self) }
    #expect(error?.cause == .contextClosed(fullPath: ["context"]))
  }

  @Test func aMakingThatIsUnderWayIsCancelled() async throws {
    let (begun, journal) = (Latch(), journal)
    context.register((any Service).self, lifetime: .context) {
      begun.arrive()
      do { try await untilCancelled() } catch {
        journal.add("cancelled")
        throw error
      }
      return Plain()
    }.onClose { _ in
      journal.add("closed")
    }
    let waiting = Task { try await context.obtain((any Service).self) }
    await begun.wait()
    try await context.close()
    #expect(journal.all == ["cancelled"])
    let error = await #expect(throws: UDILinkError.self) { try await waiting.value }
    #expect(error?.cause == .contextClosed(fullPath: ["context"]))
  }

  /// The factory ignores that it is cancelled.
  @Test func whatIsMadeInTheMeantimeIsClosed() async throws {
    let (begun, cancelled, journal) = (Latch(), Latch(), journal)
    context.register((any Service).self, lifetime: .context) {
      begun.arrive()
      await withTaskCancellationHandler {
        await cancelled.wait()
      } onCancel: {
        cancelled.arrive()
      }
      return Plain()
    }.onClose { _ in
      journal.add("closed")
    }
    let waiting = Task { try? await context.obtain((any Service).self) }
    await begun.wait()
    try await context.close()
    #expect(journal.all == ["closed"])
    _ = await waiting.value
    #expect(context.link((any Service).self) == nil)
  }

  /// Nobody waits any more, but the factory makes an instance all the same.
  @Test func whatNobodyWaitsForIsClosed() async throws {
    let (begun, release, closed) = (Latch(), Latch(), Latch())
    context.register((any Service).self, lifetime: .context) {
      begun.arrive()
      await release.wait()
      return Plain()
    }.onClose { _ in
      closed.arrive()
    }
    let waiting = Task { try await context.obtain((any Service).self) }
    await begun.wait()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    release.arrive()
    await closed.wait()
  }

  @Test func aFactoryThatClosesItsOwnContextDoesNotWaitForItself() async throws {
    context.register((any Service).self, lifetime: .context) { context in
      try await context.close()
      return Plain()
    }
    _ = try? await context.obtain((any Service).self)
    try await context.close()
    #expect(context.link((any Service).self) == nil)
  }

  @Test func warmUpOfAClosedContextSaysSo() async throws {
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    try await context.close()
    await #expect(throws: UDIWarmUpError.self) { try await context.warmUp((any Service).self) }
    await #expect(throws: UDIWarmUpError.self) { try await context.warmUp() }
  }
}
