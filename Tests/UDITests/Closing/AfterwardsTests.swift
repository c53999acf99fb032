import Testing

@testable import UDI

private protocol Part: AnyObject, Sendable {}
private final class Piece: Part {}
/// Not `Sendable`, so it stays on the main actor.
private final class Panel {}

@globalActor private actor Keeper { static let shared = Keeper() }

/// `onClose`, `onCreate` and `metadata`, which are called on what `register` and `provide` return: what has been made
/// before the call counts as well, and nothing twice.
@Suite struct AfterwardsTests {
  private let context = UDIContext(tag: "context")
  private let created = Tally()
  private let closed = Tally()

  // MARK: Before, meanwhile, after

  @Test func whatWasMadeBefore() async throws {
    let registration = context.register((any Part).self, lifetime: .context) { Piece() }
    let made = await Task.detached { [context] in context.link((any Part).self) }.value
    registration.onCreate { [created, context] given, part in
      #expect(part === made && given === context)
      created.add()
    }.onClose { [closed] part in
      #expect(part === made)
      closed.add()
    }
    #expect(created.count == 1)
    #expect(context.link((any Part).self) === made && created.count == 1)
    try await context.close()
    #expect(closed.count == 1)
  }

  @Test func whatWasProvided() async throws {
    context.provide(Piece(), as: (any Part).self).onCreate { [created] _, _ in created.add() }
      .onClose { [closed] _ in closed.add() }
    #expect(created.count == 1)
    try await context.close()
    #expect(closed.count == 1)
  }

  @Test func whatAScopeOutsideTheTreeHasMade() async throws {
    let scope = try context.makeScope(tag: "scope")
    let registration = context.register((any Part).self, lifetime: .scope) { Piece() }
    let part = scope.link((any Part).self)
    scope.removeFromParent()
    registration.onClose { [closed] _ in closed.add() }.running { _ in Issue.record("It runs.") }
    try context.addChild(scope)
    #expect(scope.link((any Part).self) === part)
    try await scope.close()
    #expect(closed.count == 0)
  }

  @Test func whatAThreadIsMaking() async throws {
    let (begun, goOn) = (Meeting(2), Meeting(2))
    let registration = context.register((any Part).self, lifetime: .context) {
      begun.arrive()
      goOn.arrive()
      return Piece()
    }
    let (context, created, closed) = (context, created, closed)
    onThreads([
      { #expect(context.link((any Part).self) != nil && created.count == 1) },
      {
        begun.arrive()
        registration.onCreate { _, _ in created.add() }.onClose { _ in closed.add() }
        #expect(created.count == 0)
        goOn.arrive()
      },
    ])
    try await context.close()
    #expect(created.count == 1 && closed.count == 1)
  }

  #if DEBUG
    /// The closures are set at the very moment when a second thread begins to wait for what the first one makes.
    @Test func whileAnotherThreadWaits() async throws {
      let (begun, goOn) = (Meeting(2), Meeting(2))
      let registration = context.register((any Part).self) {
        begun.arrive()
        goOn.arrive()
        return Piece()
      }
      let (context, created, closed) = (context, created, closed)
      onThreads([
        { #expect(context.link((any Part).self) != nil && created.count == 1) },
        {
          begun.arrive()
          let hook: @Sendable (Schedule) -> Void = {
            guard $0 == .waits else { return }
            registration.onCreate { _, _ in created.add() }.onClose { _ in closed.add() }
            goOn.arrive()
          }
          #expect(Schedule.$hook.withValue(hook) { context.link((any Part).self) } != nil)
        },
      ])
      try await context.close()
      #expect(created.count == 1 && closed.count == 1)
    }
  #endif

  @Test func whatATaskIsMaking() async throws {
    let (begun, goOn) = (Signal(), Signal())
    let registration = context.register((any Part).self, lifetime: .context) { () async in
      begun.send()
      await goOn.wait()
      return Piece()
    }
    async let made = context.obtain((any Part).self)
    await begun.wait()
    registration.onCreate { [created] _, _ in created.add() }.onClose { [closed] _ in closed.add() }
    #expect(created.count == 0)
    goOn.send()
    _ = try await made
    #expect(created.count == 1)
    try await context.close()
    #expect(closed.count == 1)
  }

  /// The closures are set at any moment of the making, on a different thread.
  @Test func atAnyMoment() async throws {
    for round in 0..<200 {
      let (context, created, closed) = (UDIContext(tag: "\(round)"), Tally(), Tally())
      let registration = context.register((any Part).self, lifetime: .context) { Piece() }
      let start = Meeting(2)
      onThreads([
        {
          start.arrive()
          #expect(context.link((any Part).self) != nil)
        },
        {
          start.arrive()
          registration.onCreate { _, _ in created.add() }.onClose { _ in closed.add() }
        },
      ])
      #expect(created.count == 1)
      try await context.close()
      #expect(closed.count == 1)
    }
  }

  @Test func inScopes() async throws {
    let registration = context.register((any Part).self, lifetime: .scope) { Piece() }
    let scopes = try ["a", "b", "c"].map { try context.makeScope(tag: $0) }
    let first = scopes.prefix(2).compactMap { $0.link((any Part).self) }
    let owners = Locked<[String]>([])
    registration.onCreate { scope, _ in owners.withLock { $0.append(scope.tag) } }.onClose { [closed] _ in closed.add()
    }
    #expect(owners.withLock { $0.sorted() } == ["a", "b"])
    _ = scopes[2].link((any Part).self)
    #expect(owners.withLock { $0.sorted() } == ["a", "b", "c"] && first.count == 2)
    try await context.close()
    #expect(closed.count == 3)
  }

  @Test func withArguments() async throws {
    let registration = context.register((any Part).self, lifetime: .context) { (_, _: Int) in Piece() }
    for number in 1...3 { _ = context.link((any Part).self, with: number) }
    registration.onCreate { [created] _, _ in created.add() }.onClose { [closed] _ in closed.add() }
    #expect(created.count == 3)
    _ = context.link((any Part).self, with: 4)
    #expect(created.count == 4)
    try await context.close()
    #expect(closed.count == 4)
  }

  /// What nobody keeps is known only to those who have asked for it.
  @Test(arguments: [UDILifetime.unique, .graph])
  func whatIsNotKeptIsOnlyCreated(lifetime: UDILifetime) {
    let registration = context.register((any Part).self, lifetime: lifetime) { Piece() }
    _ = context.link((any Part).self)
    registration.onCreate { [created] _, _ in created.add() }
    #expect(created.count == 0)
    _ = context.link((any Part).self)
    #expect(created.count == 1)
  }

  @Test func throughAnAlias() async throws {
    let registration = context.register(Piece.self, lifetime: .context) { Piece() }.implements((any Part).self)
    let made = context.link((any Part).self)
    registration.onCreate { [created] _, piece in
      #expect(piece === made)
      created.add()
    }.onClose { [closed] _ in closed.add() }
    try await context.close()
    #expect(created.count == 1 && closed.count == 1)
  }

  /// A closure that is set while a link is under way is called at the end of the link.
  @Test func duringALink() {
    let registration = context.register((any Part).self, lifetime: .context) { Piece() }
    context.register(Piece.self, lifetime: .context) { [created] context in
      let part = context.link((any Part).self)
      registration.onCreate { _, given in
        #expect(given === part)
        created.add()
      }
      #expect(created.count == 0)
      return Piece()
    }
    #expect(context.link(Piece.self) != nil && created.count == 1)
  }

  // MARK: Actors

  @MainActor @Test func onTheMainActor() async throws {
    let (created, closed) = (created, closed)
    let registration = context.register(Panel.self, lifetime: .context) { Panel() }
    let made = context.link(Panel.self)
    registration.onCreate { _, panel in
      #expect(panel === made)
      created.add()
    }.onClose { _ in closed.add() }
    #expect(created.count == 1)
    try await context.close()
    #expect(closed.count == 1)
  }

  /// From then on, the instances are made on the closure's actor. What has been made elsewhere is told there.
  @Test func onAnotherActor() async throws {
    let registration = context.register((any Part).self, lifetime: .context) { Piece() }
    let first = context.link((any Part).self)
    let told = Signal()
    registration.onCreate { @Keeper _, part in
      Keeper.assertIsolated()
      #expect(part === first)
      told.send()
    }
    await told.wait()
    context.reset()
    #expect(throws: UDILinkError.self) { try context.require((any Part).self) }
  }

  /// The closure's actor is not where the factory is running already.
  @Test func whatAThreadIsMakingMeanwhileForAnActor() async throws {
    let (begun, goOn, told) = (Meeting(2), Meeting(2), Signal())
    let registration = context.register((any Part).self, lifetime: .context) {
      begun.arrive()
      goOn.arrive()
      return Piece()
    }
    let (context, created) = (context, created)
    onThreads([
      { #expect(context.link((any Part).self) != nil) },
      {
        begun.arrive()
        registration.onCreate { @MainActor _, _ in
          MainActor.assertIsolated()
          created.add()
          told.send()
        }
        goOn.arrive()
      },
    ])
    await told.wait()
    #expect(created.count == 1)
  }

  /// Its factory gives the same object again.
  @Test func whatWasProvidedIsToldOnceAlsoIfAFreshOneIsWanted() {
    let piece = Piece()
    context.provide(piece, as: (any Part).self).onCreate { [created] _, _ in created.add() }
    #expect(context.link((any Part).self, fresh: true) === piece && created.count == 1)
  }

  /// An operation begins with `running` or, after a warm-up that was cancelled, with the next one.
  @Test func onlyRunningBeginsOperations() async throws {
    let (begun, start) = (Tally(), Signal())
    let warmingUp = Locked<Task<Void, any Error>?>(nil)
    let registration = context.register((any Part).self, lifetime: .context) {
      warmingUp.withLock { $0?.cancel() }
      return Piece()
    }.running { _ in
      begun.add()
      await eventually { Task.isCancelled }
    }
    let context = context
    let task = Task {
      await start.wait()
      try await context.warmUp()
    }
    warmingUp.withLock { $0 = task }
    start.send()
    await #expect(throws: CancellationError.self) { try await task.value }
    registration.onClose { [closed] _ in closed.add() }.onCreate { [created] _, _ in created.add() }
    for _ in 0..<100 { await Task.yield() }
    #expect(begun.count == 0)
    try await context.warmUp()
    await eventually { begun.count > 0 }
    try await context.close()
    #expect(begun.count == 1 && closed.count == 1 && created.count == 1)
  }

  // MARK: Mistakes

  @Test(arguments: ["onClose", "onCreate"])
  func twice(verb: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [verb] in
      let context = UDIContext(tag: "context")
      let registration = context.register((any Part).self, lifetime: .context) { Piece() }
      for _ in 0..<2 {
        if verb == "onClose" { registration.onClose { _ in } } else { registration.onCreate { _, _ in } }
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("`\(verb)` was called twice"), "\(message)")
  }

  @Test(arguments: ["onClose", "onCreate", "metadata"])
  func onABinding(verb: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [verb] in
      let (context, piece) = (UDIContext(tag: "context"), Piece())
      context.bind(piece, as: (any Part).self)
      let registration = context.registrations(of: (any Part).self)[0]
      switch verb {
      case "onClose": registration.onClose { _ in }
      case "onCreate": registration.onCreate { _, _ in }
      default: registration.metadata(1)
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("`\(verb)` was called on a"), "\(message)")
  }

  /// What stays because something else was there has nothing to close.
  @Test func whatWasNotRegistered() async throws {
    context.provide(Piece(), as: (any Part).self)
    context.register((any Part).self, replaces: false) { Piece() }.onClose { [closed] _ in closed.add() }
      .onCreate { [created] _, _ in created.add() }
    #expect(context.link((any Part).self) != nil)
    try await context.close()
    #expect(created.count == 0 && closed.count == 0)
  }

  // MARK: Metadata

  @Test func metadataIsReplaced() {
    let registration = context.register((any Part).self) { Piece() }
    #expect(registration.metadata == nil)
    #expect(registration.metadata(1).metadata as? Int == 1)
    registration.metadata("two")
    #expect(context.registrations(of: (any Part).self).map { $0.metadata as? String } == ["two"])
  }
}
