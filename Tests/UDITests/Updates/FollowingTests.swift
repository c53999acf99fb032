import Testing

@testable import UDI

/// Following what only another actor can make, and following from a context that is being closed.
@Suite(.unlessItHangs) struct FollowingTests {
  let context = UDIContext(tag: "context")

  private final class OnMain: Sendable {
    @MainActor init() {}
  }

  private func register() { context.register(OnMain.self, lifetime: .context) { @MainActor in OnMain() } }

  // MARK: - What belongs to the main actor

  @Test func updatesHaveItMade() async throws {
    register()
    let (found, misuse) = await MisuseLog.during {
      var updates = context.updates(of: OnMain.self).makeAsyncIterator()
      return await updates.next() ?? nil
    }
    #expect(found != nil && found === context.link(OnMain.self) && misuse.isEmpty, "\(misuse)")
  }

  @Test func linkWhenAvailableHasItMade() async throws {
    let (context, waits, log) = (context, Latch(), MisuseLog())
    let task = Task {
      try await withReporter(log.reporter) {
        try await Schedule.$hook.withValue({ if $0 == .awaitsChange { waits.arrive() } }) {
          try await context.linkWhenAvailable(OnMain.self)
        }
      }
    }
    await waits.wait()
    register()
    #expect(try await task.value === context.link(OnMain.self))
    #expect(log.all.isEmpty, "\(log.all)")
  }

  /// Called on the main actor, but its lookups run elsewhere.
  @MainActor @Test func whileAvailableHasItMade() async throws {
    register()
    let (found, misuse) = try await MisuseLog.during {
      try await context.whileAvailable(OnMain.self) { $0 }
    }
    #expect(found === context.link(OnMain.self) && misuse.isEmpty, "\(misuse)")
  }

  @Test func alsoUnderAnotherType() async throws {
    context.register(OnMain.self, lifetime: .context) { @MainActor in OnMain() }.implements((any Sendable).self)
    var updates = context.updates(of: (any Sendable).self).makeAsyncIterator()
    #expect(await updates.next() ?? nil != nil)
  }

  /// Another factory needs it, and cannot wait. That is no fault of the follower.
  @Test func nothingIsReportedIfAnotherFactoryNeedsIt() async throws {
    register()
    context.register((any Service).self) { context in
      _ = try context.require(OnMain.self)
      return Plain()
    }
    let (found, misuse) = await MisuseLog.during {
      var updates = context.updates(of: (any Service).self).makeAsyncIterator()
      return await updates.next()
    }
    #expect(found != nil && found! == nil && misuse.isEmpty, "\(misuse)")
  }

  // MARK: - A context that is being closed

  @Test func followersEndWhenClosingBegins() async throws {
    let (context, journal) = (context, Journal())
    let child = try context.makeChild(tag: "child")
    let follower = Task {
      for await _ in child.updates(of: (any Service).self) {}
      journal.add("follower")
    }
    await settle([child])
    context.provide(1).onClose { _ in
      await follower.value
      for await _ in context.updates(of: (any Service).self) {}
      await #expect(throws: UDILinkError.self) { try await context.linkWhenAvailable((any Service).self) }
      await #expect(throws: UDILinkError.self) { try await child.whileAvailable((any Service).self) { _ in } }
      journal.add("closer")
    }
    try await context.close()
    #expect(journal.all == ["follower", "closer"])
  }

  // MARK: - Between the steps of a consumer

  /// The task is cancelled after it has been asked whether it is, and before it is suspended.
  @Test func aCancellationJustBeforeTheWait() async {
    let (context, waits) = (context, Tally())
    let task = Task {
      await Schedule.$hook.withValue({ point in
        guard point == .awaitsChange else { return }
        waits.add()
        // The first wait is for the first element.
        if waits.count == 2 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
      }) {
        var updates = context.updates(of: (any Service).self).makeAsyncIterator()
        #expect(await updates.next() != nil)
        return await updates.next() == nil
      }
    }
    #expect(await task.value)
    #expect(waits.count == 2)
  }

  /// After a move that has changed nothing, something is bound further up just before the consumer waits.
  @Test func aChangeJustAfterAMove() async throws {
    let (context, service) = (context, Plain())
    let (first, second) = (UDIContext(tag: "first"), UDIContext(tag: "second"))
    try first.addChild(context)
    let waits = Tally()
    let found = try await Schedule.$hook.withValue({ point in
      guard point == .awaitsChange else { return }
      waits.add()
      // The first wait is for the first element, and the second one for the move.
      if waits.count == 3 { second.bind(service, as: (any Service).self) }
    }) {
      var updates = context.updates(of: (any Service).self).makeAsyncIterator()
      #expect(await updates.next() != nil)
      try second.addChild(context)
      return await updates.next() ?? nil
    }
    #expect(found === service)
  }
}
