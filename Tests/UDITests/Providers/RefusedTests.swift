import Testing

@testable import UDI

/// What a closed context is given is closed as soon as `onClose` says how.
@Suite(.unlessItHangs, .silent) struct RefusedTests {
  let context = UDIContext(tag: "context")
  let isClosed = Latch()

  @Test func aClosedContextTakesNothing() async throws {
    try await context.close()
    let plain = Plain()
    context.provide(plain).onClose { [isClosed] in
      #expect($0 === plain)
      isClosed.arrive()
    }
    await isClosed.wait()
  }

  @Test func aContextThatIsBeingClosedTakesNothing() async throws {
    context.provide("first").onClose { [context, isClosed] _ in
      context.provide(Plain()).onClose { _ in isClosed.arrive() }
      await isClosed.wait()
    }
    try await context.close()
  }

  @Test @MainActor func whatIsNotSendableIsClosedOnTheMainActor() async throws {
    try await context.close()
    context.provide(Unshared()).onClose { [isClosed] _ in
      MainActor.assertIsolated()
      isClosed.arrive()
    }
    await isClosed.wait()
  }

  @Test func anErrorIsReported() async throws {
    let (reported, isReported) = (Locked<[UDIMisuse]>([]), Latch())
    try await context.close()
    let reporter = UDIReporter { misuse in
      reported.withLock { $0.append(misuse) }
      if misuse.kind == .closingFailed { isReported.arrive() }
    }
    _ = withReporter(reporter) { context.provide(Plain()).onClose { _ in throw CancellationError() } }
    await isReported.wait()
    #expect(reported.current.map(\.kind) == [.contextClosed, .closingFailed])
    #expect(reported.current.last?.message.contains("in \"context\"") == true)
  }

  /// What was taken is closed by its context, once.
  @Test func whatWasTakenIsNotClosedBefore() async throws {
    let count = Locked(0)
    context.provide(Plain()).onClose { _ in count.withLock { $0 += 1 } }
    try await context.close()
    #expect(count.current == 1)
  }
}

private class Unshared {}
