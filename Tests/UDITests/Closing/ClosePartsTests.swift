import Testing

@testable import UDI

/// Who waits for the end of a context that a run above ends waits for that context's own part, and gets its errors.
@Suite(.unlessItHangs) struct ClosePartsTests {
  private struct Broken: Error { let label: String }
  private let root = UDIContext(tag: "root")
  private let clock = ManualClock()
  private let journal = Journal()

  private func closing(_ context: UDIContext, within limit: Duration? = nil) -> Task<[UDIFailure], Never> {
    Task { [clock] in
      do { try await context.close(within: limit, clock: clock) } catch let error as UDICloseError {
        return error.failures
      } catch { Issue.record(error) }
      return []
    }
  }

  private func until(_ condition: @Sendable () -> Bool) async { while !condition() { await Task.yield() } }

  /// Runs a body, and returns what was reported meanwhile.
  private func reports(_ body: () async throws -> Void) async rethrows -> [String] {
    let all = Locked<[String]>([])
    try await withReporter(UDIReporter { misuse in all.withLock { $0.append("\(misuse)") } }) { try await body() }
    return all.withLock { $0 }
  }

  enum Wait: CaseIterable { case withScope, close, untilClosed, childOfScope }

  /// The task that waits is not known to be the closer's own.
  @Test(arguments: Wait.allCases)
  func aCloserWaitsForScopesBelow(_ wait: Wait) async throws {
    let (root, isClosing) = (root, Latch())
    let session = try root.makeScope(tag: "session")
    let child = try session.makeChild(tag: "child")
    let isIn = Latch()
    session.provide(1).onClose { _ in }
    let request = Task.detached {
      switch wait {
      case .withScope:
        try await root.withScope(tag: "request") { _ in
          isIn.arrive()
          await isClosing.wait()
        }
      case .close:
        isIn.arrive()
        await isClosing.wait()
        try await session.close()
        #expect(session.parent == nil && session.link(Int.self) == nil)
      case .childOfScope:
        isIn.arrive()
        await isClosing.wait()
        try await child.close()
        #expect(child.parent == nil)
      case .untilClosed:
        isIn.arrive()
        try await session.untilClosed()
      }
    }
    await isIn.wait()
    root.provide("server").onClose { _ in
      isClosing.arrive()
      try await request.value
    }
    try await root.close()
  }

  /// Something that the run awaits waits for a part that has its turn later: that would be a circle.
  @Test func aCloserDoesNotWaitForWhatIsClosedLater() async throws {
    let (first, last) = (try root.makeScope(tag: "first"), try root.makeScope(tag: "last"))
    first.provide(1).onClose { [journal] _ in journal.add("first") }
    last.provide(2).onClose { [journal, root] _ in
      try await first.close()
      try await root.close()
      journal.add("last")
    }
    try await root.close()
    #expect(journal.all == ["last", "first"])
  }

  @Test func eachGetsTheErrorsBelow() async throws {
    let (root, begun, go) = (root, Latch(), Latch())
    let session = try root.makeScope(tag: "session")
    let page = try session.makeChild(tag: "page")
    page.provide(1).onClose { _ in
      begun.arrive()
      await go.wait()
      throw Broken(label: "page")
    }
    session.provide(1).onClose { _ in throw Broken(label: "session") }
    try root.makeScope(tag: "other").provide(1).onClose { _ in throw Broken(label: "other") }
    root.provide(1).onClose { _ in throw Broken(label: "root") }
    let untold = await reports {
      let all = closing(root)
      await begun.wait()
      let some = [closing(session), closing(page)]
      go.arrive()
      let label = { @Sendable (failure: UDIFailure) in (failure.error as? Broken)?.label }
      #expect(await some[0].value.map(label) == ["page", "session"])
      #expect(await some[1].value.map(label) == ["page"])
      #expect(await all.value.map(label) == ["page", "other", "session", "root"])
    }
    #expect(untold.isEmpty)
  }

  /// Ten requests end while the root is being closed, and report none of its errors.
  @Test func requestsReportNothingOfTheRoot() async throws {
    let (root, begun, go) = (root, Latch(), Latch())
    root.provide(1).onClose { _ in throw Broken(label: "1") }
    let untold = await reports {
      let requests = (0..<10).map { _ in
        Task { try await root.withScope(tag: "request") { _ in await go.wait() } }
      }
      await until { root.children.count == 10 }
      root.provide("slow").onClose { _ in
        begun.arrive()
        for request in requests { try await request.value }
      }
      let all = closing(root)
      await begun.wait()
      go.arrive()
      #expect(await all.value.count == 1)
    }
    #expect(untold.isEmpty)
  }

  /// An operation closes the root, so nobody waits for it. Others come and go.
  @Test(arguments: [false, true])
  func whatNobodyGetsIsReported(hasCallerBelow: Bool) async throws {
    let (root, clock, begun, go) = (root, clock, Latch(), Latch())
    let (child, isOver) = (try root.makeChild(tag: "child"), Latch())
    child.provide(1).onClose { _ in throw Broken(label: "child") }
    try root.makeChild(tag: "sibling").provide(1).onClose { _ in
      begun.arrive()
      await go.wait()
      throw Broken(label: "sibling")
    }
    let untold = await reports {
      root.provide("").onClose { _ in
        isOver.arrive()
        throw Broken(label: "root")
      }.running { _ in try await root.close() }
      await begun.wait()
      if hasCallerBelow {
        let leaving = closing(child, within: .seconds(1))
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        let failures = await leaving.value
        #expect(failures.map(\.fullPath) == [["root", "child"]])
        #expect("\(failures)".contains("did not end in time") && !"\(failures)".contains("cancelled"))
      }
      go.arrive()
      await isOver.wait()
      try? await root.untilClosed()
      await until { root.children.isEmpty && root.parent == nil && root.link(String.self) == nil }
    }
    for label in ["sibling", "child", "root"] { #expect(untold.filter { $0.contains("\"\(label)\"") }.count == 1) }
  }

  /// A caller of an earlier run gets its error. A later run, which an operation has begun, does not tell it again.
  @Test func whatACallerBelowGetsIsNotReportedAbove() async throws {
    let (root, begun, go, isOver) = (root, Latch(), Latch(), Latch())
    let child = try root.makeChild(tag: "child")
    child.provide(1).onClose { _ in
      begun.arrive()
      await go.wait()
      throw Broken(label: "child")
    }
    let untold = await reports {
      let below = closing(child)
      await begun.wait()
      root.provide("").onClose { _ in isOver.arrive() }.running { _ in
        try await root.close()
        go.arrive()
      }
      #expect(await below.value.count == 1)
      await isOver.wait()
      await until { root.link(String.self) == nil }
    }
    #expect(untold.isEmpty)
  }

  /// A limit for a context below is none for the rest.
  @Test func aLimitBelowIsThatOfItsPart() async throws {
    let (root, journal, clock, latch) = (root, journal, clock, Latch())
    let children = try ["first", "last"].map { try root.makeChild(tag: $0) }
    for child in children {
      child.provide(1).onClose { [tag = child.tag] _ in
        journal.add(tag)
        await latch.wait()
      }
    }
    let above = closing(root)
    await until { journal.all == ["last"] }
    // The run is busy elsewhere, so the first caller leaves; the second one's limit ends what hangs.
    let below = closing(children[0], within: .seconds(1))
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(1))
    #expect(await below.value.map { $0.error is UDIUntimelyEnd } == [true])
    #expect(journal.all == ["last"])
    let last = closing(children[1], within: .seconds(1))
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(1))
    #expect(await last.value.count == 1)
    // The first one's limit is over, so it has a tenth of it.
    await until { journal.all == ["last", "first"] && clock.sleeperCount == 1 }
    clock.advance(by: .milliseconds(100))
    #expect(await above.value.count == 2)
    latch.arrive()
  }

  /// The run has come as far as the context, so it leaves behind what hangs there.
  @Test func aLimitBelowCountsWhenTheRunGetsThere() async throws {
    let (root, journal, clock, latch) = (root, journal, clock, Latch())
    let (first, last) = (try root.makeChild(tag: "first"), try root.makeChild(tag: "last"))
    first.provide(1).onClose { _ in
      journal.add("first")
      await latch.wait()
    }
    last.provide(1).onClose { _ in journal.add("last") }
    let above = closing(root)
    await until { journal.all == ["last", "first"] }
    let below = closing(first, within: .seconds(1))
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(1))
    #expect(await below.value.map(\.typeName) == ["Swift.Int"])
    latch.arrive()
    #expect(await above.value.map(\.typeName) == ["Swift.Int"])
  }

  /// A caller leaves when its limit is over, and another one awaits only the end.
  @Test func whatACallerHasLeftIsReported() async throws {
    let (root, clock, begun, go) = (root, clock, Latch(), Latch())
    let child = try root.makeChild(tag: "child")
    child.provide(1).onClose { _ in throw Broken(label: "child") }
    try root.makeChild(tag: "sibling").provide(1).onClose { _ in
      begun.arrive()
      await go.wait()
    }
    let untold = await reports {
      root.provide("").running { _ in try await root.close() }
      await begun.wait()
      let leaving = closing(child, within: .seconds(1))
      await until { clock.sleeperCount == 1 }
      clock.advance(by: .seconds(1))
      #expect(await leaving.value.map { $0.error is UDIUntimelyEnd } == [true])
      let waiting = Task { try await child.untilClosed() }
      await until { child.change { node, _ in node.treeLocked.extras?.closing.part?.isWanted == true } }
      go.arrive()
      _ = await waiting.result
      await until { root.change { node, _ in node.isEnding && node.treeLocked.extras?.closing.part == nil } }
    }
    #expect(untold.count == 1 && untold[0].contains("\"child\""))
  }
}
