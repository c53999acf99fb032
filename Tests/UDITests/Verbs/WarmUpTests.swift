import Foundation
import Testing

@testable import UDI

@Suite(.unlessItHangs, .silent) struct WarmUpTests {
  let context = UDIContext(tag: "context")

  @Test func everythingOwnedIsMadeHereAndBelow() async throws {
    let made = Journal()
    let (child, scope) = (try context.makeChild(tag: "child"), try context.makeScope(tag: "scope"))
    for (place, name) in [(context, "root"), (child, "child"), (scope, "scope")] {
      place.register((any Service).self, lifetime: .context) {
        await Task.yield(); made.add("async \(name)"); return Plain()
      }
      place.register((any Other).self, lifetime: .context) {
        made.add("sync \(name)"); return Plain()
      }
      place.register((any Loose).self, lifetime: .unique) {
        made.add("unique"); return Plain()
      }
      place.register((any Alpha).self, lifetime: .weak) {
        made.add("weak"); return Made()
      }
      place.register((any Beta).self, lifetime: .context) { (_, number: Int) in
        made.add("argument"); return Made()
      }
    }
    try await context.warmUp()
    #expect(made.all.prefix(3).sorted() == ["async child", "async root", "async scope"])
    #expect(made.all.dropFirst(3).sorted() == ["sync child", "sync root", "sync scope"])
    #expect(context.link((any Service).self) != nil)
    try await context.warmUp()
    #expect(made.all.count == 6)
  }

  @Test func whatIsSynchronousIsMadeInTheOwnTask() async throws {
    let tasks = Journal()
    @Sendable func note() { unsafe withUnsafeCurrentTask { unsafe tasks.add("\($0?.hashValue ?? 0)") } }
    for number in 0..<5 {
      context.register(Level.self, named: "\(number)", lifetime: .context) {
        note()
        return Level()
      }
      context.register(Level.self, named: "main \(number)", lifetime: .context) { @MainActor in
        note()
        return Level()
      }
    }
    try await context.warmUp()
    note()
    #expect(tasks.all.count == 11 && Set(tasks.all).count == 1)
  }

  /// Initialisers wait for their parameters, so each has a task of its own.
  @Test func initialisersAreMadeSideBySide() async throws {
    final class First: Sendable { init(_ level: Level) {} }
    final class Second: Sendable { init(_ level: Level) {} }
    let latch = Latch(2)
    context.register(Level.self, lifetime: .unique) {
      latch.arrive()
      await latch.wait()
      return Level()
    }
    context.register(First.self, lifetime: .context, using: First.init)
    context.register(Second.self, lifetime: .context, using: Second.init)
    try await context.warmUp()
    #expect(context.link(First.self) != nil && context.link(Second.self) != nil)
  }

  /// What is made at the same time, and on which level it is.
  final class Level: Sendable {}

  /// Ten services on three levels. All services of a level are made at the same time.
  @Test func levelByLevel() async throws {
    let sizes = [4, 4, 2]
    let latches = sizes.map { Latch($0) }
    for (level, size) in sizes.enumerated() {
      for number in 0..<size {
        context.register(Level.self, named: "\(level).\(number)", lifetime: .context) { context in
          if level > 0 {
            for other in 0..<sizes[level - 1] {
              _ = try await context.obtain(Level.self, named: "\(level - 1).\(other)")
            }
          }
          // Nobody goes on before all of the level have come this far.
          latches[level].arrive()
          await latches[level].wait()
          return Level()
        }
      }
    }
    try await context.warmUp()
    #expect(context.linkAll(Level.self).count == 10)
  }

  @Test func aSynchronousProviderFindsWhatIsAsynchronous() async throws {
    final class Desk: Sendable {
      let service: (any Service)?
      init(service: (any Service)?) { self.service = service }
    }
    context.register(Desk.self, lifetime: .context) { context in Desk(service: context.link((any Service).self)) }
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    try await context.warmUp()
    #expect(context.link(Desk.self)?.service != nil)
  }

  @Test func allFailuresInOneError() async throws {
    struct Failure: Error {}
    let child = try context.makeChild(tag: "child")
    context.register((any Service).self, lifetime: .context) { () async throws -> Plain? in throw Failure() }
    context.register((any Other).self, named: "n", lifetime: .context) { () -> Plain? in nil }
    child.register((any Loose).self, lifetime: .context) { context in
      _ = try context.require((any Gamma).self)
      return Plain()
    }
    let made = Locked(0)
    child.register((any Alpha).self, lifetime: .context) {
      made.withLock { $0 += 1 }
      return Made()
    }
    let error = try await #require(throws: UDIWarmUpError.self) { try await context.warmUp() }
    #expect(error.failures.count == 3)
    #expect(error.failures[0].error is Failure)
    #expect(error.failures[1].name == "n")
    #expect(error.failures[2].fullPath == ["context", "child"])
    #expect(error.description.hasPrefix("3 dependencies could not be made:\n"))
    #expect(error.description.contains("Gamma"))
    // Each failure is indented as a whole, with what its error says in further lines.
    #expect(error.description.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("  ") })
    // Everything else has been made.
    #expect(made.current == 1)
  }

  @Test func whatHasFailedIsNotMadeAgainForThoseThatNeedIt() async throws {
    struct Broken: Error {}
    let calls = Locked(0)
    context.register((any Service).self, lifetime: .context) { () async throws -> Plain? in
      calls.withLock { $0 += 1 }
      throw Broken()
    }
    context.register((any Other).self, lifetime: .context) { @MainActor context in
      _ = try context.require((any Service).self)
      return Plain()
    }
    for name in ["a", "b"] as [UDIName] {
      context.register((any Loose).self, named: name, lifetime: .context) { context in
        _ = try context.require((any Service).self)
        return Plain()
      }
    }
    for round in 1...2 {
      let error = try await #require(throws: UDIWarmUpError.self) { try await context.warmUp() }
      #expect(error.failures.map { $0.error is Broken } == [true, true, true, true], "\(error)")
      #expect(calls.current == round)
    }
  }

  @Test func aFactoryMayTryAgain() async throws {
    struct Broken: Error {}
    let calls = Locked(0)
    context.register((any Service).self, lifetime: .context) { () async throws -> Plain in
      calls.withLock { $0 += 1 }
      if calls.current < 4 { throw Broken() }
      return Plain()
    }
    context.register((any Other).self, lifetime: .context) { context async throws -> Plain in
      while (try? await context.obtain((any Service).self)) == nil {}
      return Plain()
    }
    _ = try? await context.warmUp()
    #expect(context.link((any Other).self) != nil && calls.current == 4)
  }

  @Test func whatHasFailedInOneScopeIsMadeInTheNext() async throws {
    struct Broken: Error {}
    let calls = Locked(0)
    context.register((any Service).self, lifetime: .scope) { context async throws -> Plain in
      calls.withLock { $0 += 1 }
      if context.tag == "first" { throw Broken() }
      return Plain()
    }
    for tag in ["first", "second"] { try context.makeScope(tag: tag) }
    let error = try await #require(throws: UDIWarmUpError.self) { try await context.warmUp() }
    #expect(error.failures.count == 1 && calls.current == 2)
  }

  @Test func oneCauseIsToldOnce() async throws {
    struct Broken: Error {}
    context.register((any Service).self, lifetime: .context) { () async throws -> Plain? in throw Broken() }
    for number in 0..<3 {
      context.register((any Other).self, named: "\(number)", lifetime: .context) { context in
        _ = try await context.obtain((any Service).self)
        return Plain()
      }
      context.register((any Loose).self, named: "\(number)", lifetime: .context) { context in
        _ = try context.require((any Service).self)
        return Plain()
      }
    }
    for name in ["x", "y"] as [UDIName] {
      context.register((any Alpha).self, named: name, lifetime: .context) { context in
        Made(parts: [try context.require((any Gamma).self)])
      }
    }
    context.register((any Beta).self, lifetime: .context) { () throws -> Made in throw OutOfOrder() }
    let error = try await #require(throws: UDIWarmUpError.self) { try await context.warmUp() }
    #expect(error.failures.count == 10)
    let text = error.description
    #expect(text.hasPrefix("10 dependencies could not be made:\n"))
    #expect(text.components(separatedBy: "Broken()").count == 2, "\(text)")
    #expect(text.components(separatedBy: "No UDITests.Gamma is registered").count == 2, "\(text)")
    #expect(text.components(separatedBy: "OutOfOrder(code: 7)").count == 2, "\(text)")
    for key in ["Service", "Beta", #"Alpha named "x""#, #"Alpha named "y""#] {
      #expect(text.contains("UDITests.\(key) in \"context\""), "\(text)")
    }
    for number in 0..<3 {
      #expect(text.contains("Other named \"\(number)\" in \"context\""), "\(text)")
      #expect(text.contains("Loose named \"\(number)\" in \"context\""), "\(text)")
    }
  }

  @Test func aFailureIsNotAnsweredWithTheAdviceToWarmUp() async throws {
    struct Broken: Error {}
    let context = context
    context.register((any Service).self, lifetime: .context) { () async throws -> Plain? in throw Broken() }
    let before = #expect(throws: UDILinkError.self) { try context.require((any Service).self) }
    #expect(before?.explanation.advice?.contains("await `warmUp` first") == true)
    _ = await #expect(throws: UDIWarmUpError.self) { try await context.warmUp() }
    let after = #expect(throws: UDILinkError.self) { try context.require((any Service).self) }
    let text = after?.description.split(separator: "\n") ?? []
    #expect(text.first?.contains("Broken()") == true, "\(text)")
    #expect(text.allSatisfy { !$0.contains("warmUp") }, "\(text)")
    #expect(firstLine(of: context.explain((any Service).self)).contains("Broken()"))
    let (_, misuses) = MisuseLog.during { _ = context.link((any Service).self) }
    #expect(misuses.first?.message.contains("Broken()") == true, "\(misuses)")
  }

  @Test func aSynchronousFactoryGetsWhatHasFailedBefore() async throws {
    let isBroken = Locked(true)
    context.register((any Service).self, lifetime: .context) { () async throws -> Plain? in
      if isBroken.current { throw OutOfOrder() }
      return Plain()
    }
    context.register((any Other).self, lifetime: .context) { context in
      _ = try context.require((any Service).self)
      return Plain()
    }
    _ = await #expect(throws: UDIWarmUpError.self) { try await context.warmUp() }
    isBroken.withLock { $0 = false }
    try await context.warmUp()
    #expect(context.link((any Other).self) != nil)
  }

  @Test func namedTypes() async throws {
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    context.register((any Other).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    context.register((any Loose).self, lifetime: .context) {
      Issue.record("not asked for"); return Plain()
    }
    try await context.warmUp((any Service).self, (any Other).self)
    #expect(context.link((any Service).self) != nil && context.link((any Other).self) != nil)
    let error = await #expect(throws: UDIWarmUpError.self) { try await context.warmUp((any Alpha).self) }
    #expect((error?.failures.first?.error as? UDILinkError)?.cause == .notRegistered)
  }

  final class OnMain {}

  @Test func onTheMainActor() async throws {
    await MainActor.run {
      context.register(OnMain.self, lifetime: .context) {
        MainActor.assertIsolated()
        return OnMain()
      }
      context.register((any Service).self, lifetime: .context) {
        await Task.yield(); return Plain()
      }
    }
    try await context.warmUp()
    #expect(context.link((any Service).self) != nil)
    await MainActor.run { #expect(context.link(OnMain.self) != nil) }
  }

  @Test func keys() async throws {
    for name in ["a", "b", "c"] as [UDIName] {
      context.register((any Service).self, named: name, lifetime: .context) { () async in
        if name == "c" { Issue.record("not asked for") }
        return Plain()
      }
    }
    context.register((any Other).self, lifetime: .context) { () async in Plain() }
    let (one, other) = (UDIKey((any Service).self, named: "a"), UDIKey((any Service).self, named: "b"))
    try await context.warmUp(one, other, UDIKey((any Other).self))
    #expect(context.link(one) != nil && context.link(other) != nil && context.link((any Other).self) != nil)
    let missing = UDIKey((any Service).self, named: "missing")
    let error = await #expect(throws: UDIWarmUpError.self) { try await context.warmUp(one, missing) }
    #expect(error?.failures.map(\.name) == ["missing"])
  }

  // MARK: - What fails

  final class Part: Sendable {}
  final class One: Sendable { init(part: Part) {} }
  final class Two: Sendable { init(part: Part) {} }
  final class Three: Sendable { init(one: One) {} }

  /// However it is registered and whoever needs it, it is called once; and it is told once, before those that need it.
  @Test(arguments: [UDILifetime.context, .scope, .unique], [0, 1, 2])
  func aFailureIsCalledAndToldOnce(_ lifetime: UDILifetime, _ kind: Int) async throws {
    let calls = Tally()
    context.register(Three.self, lifetime: .scope, using: Three.init(one:))
    context.register(One.self, lifetime: .scope, using: One.init(part:))
    switch kind {
    case 0:
      context.register(Part.self, lifetime: lifetime) { () async throws -> Part in
        calls.add()
        throw OutOfOrder()
      }
    case 1:
      context.register(Part.self, lifetime: lifetime) { @MainActor () throws -> Part in
        calls.add()
        throw OutOfOrder()
      }
    default:
      context.register(Part.self, lifetime: lifetime) { () throws -> Part in
        calls.add()
        throw OutOfOrder()
      }
    }
    context.register(Two.self, lifetime: .scope) { context in Two(part: try context.require(Part.self)) }
    let scope = try context.makeScope(tag: "scope")
    let error = try await #require(throws: UDIWarmUpError.self) {
      if lifetime == .context { try await context.warmUp() } else { try await scope.warmUp() }
    }
    #expect(calls.count == 1 || lifetime == .unique && kind != 1 && calls.count <= 3, "\(calls.count)")
    let text = error.description
    #expect(text.components(separatedBy: "OutOfOrder(code: 7)").count == 2, "\(text)")
    if lifetime != .unique {
      #expect(error.failures.count == 4)
      #expect(text.contains("WarmUpTests.Part in"), "\(text)")
      let first = text.split(separator: "\n")[1]
      #expect(first.contains("WarmUpTests.Part in") && !first.contains("For the same reason"), "\(text)")
    }
  }

  /// Of very many causes, the first ten are told in full, and of each other one the first line. Equal ones are told once.
  @Test func manyCauses() async throws {
    for number in 0..<100 {
      context.register((any Alpha).self, named: "\(number)") { context in
        Made(parts: [try context.require((any Beta).self, named: "\(number % 20)")])
      }
    }
    context.register((any Gamma).self) { () -> Made? in nil }
    let error = try await #require(throws: UDIWarmUpError.self) { try await context.warmUp() }
    #expect(error.failures.count == 101)
    let text = error.description
    #expect(text.components(separatedBy: "No UDITests.Beta named").count == 21, "\(text)")
    #expect(text.components(separatedBy: "For the same reason").count == 21, "\(text)")
    #expect(text.components(separatedBy: "Looked in").count == 11, "\(text)")
    #expect(text.components(separatedBy: "The factory of UDITests.Gamma returned nil.").count == 2, "\(text)")
  }

  /// What failed only because it came too early is tried again.
  @Test func whatCameTooEarly() async throws {
    let calls = Tally()
    // Both belong to an actor, so they are made side by side, and neither can make the other.
    context.register((any Service).self, lifetime: .context) { @Slow context in
      calls.add()
      return Plain(try context.require((any Other).self) is Plain ? "made" : "")
    }
    context.register((any Other).self, lifetime: .context) { @MainActor in Plain() }
    context.register((any Loose).self, lifetime: .context) { context in
      _ = try context.require((any Service).self)
      return Plain()
    }
    try await context.warmUp()
    #expect((1...2).contains(calls.count) && context.link((any Loose).self) != nil)
  }

  /// What lacks something for good is called once, however many need it.
  @Test func whatLacksSomethingForGood() async throws {
    let calls = Tally()
    context.register((any Other).self, lifetime: .unique) { () async in Plain() }
    context.register(Part.self, lifetime: .context) { context in
      calls.add()
      _ = try context.require((any Other).self)
      return Part()
    }
    context.register(One.self, lifetime: .context, using: One.init(part:))
    context.register(Two.self, lifetime: .context, using: Two.init(part:))
    let error = try await #require(throws: UDIWarmUpError.self) { try await context.warmUp() }
    #expect(error.failures.count == 3 && calls.count == 1)
  }

  /// Nothing comes, so nothing is tried again.
  @Test func whatNeverComes() async throws {
    let calls = Tally()
    context.register((any Other).self, lifetime: .unique) { () async in Plain() }
    // What is made meanwhile is nothing that it lacks.
    context.register((any Loose).self, lifetime: .context) { Plain() }
    context.register((any Service).self, lifetime: .context) { context in
      calls.add()
      return Plain(context.linkAll((any Other).self).isEmpty ? "" : "made")
    }
    let error = try await #require(throws: UDIWarmUpError.self) { try await context.warmUp() }
    #expect(error.failures.count == 1 && calls.count == 1 && error.description.contains("Change the registration of"))
    #expect(context.explain((any Service).self).description.contains("failed"))
  }

  @globalActor actor Slow { static let shared = Slow() }

  // MARK: - Cancellation

  /// No factory is called any more, of whatever kind, and no operation begins before the next warm-up.
  @Test func aCancelledWarmUpCallsNothingMore() async throws {
    let (begun, goOn, calls, operations) = (Latch(), Latch(), Tally(), Tally())
    context.register((any Service).self, lifetime: .context) { () async in
      begun.arrive()
      await goOn.wait()
      return Plain()
    }
    for name in ["a", "b"] as [UDIName] {
      context.register((any Other).self, named: name, lifetime: .context) {
        calls.add()
        return Plain()
      }.running { _ in operations.add() }
      context.register((any Loose).self, named: name, lifetime: .context) { @MainActor in
        calls.add()
        return Plain()
      }
      context.register((any Alpha).self, named: name, lifetime: .context) { () async in
        // Side by side with the first.
        Made()
      }
    }
    context.register(
      Part.self, lifetime: .context,
      using: { (_: any Service) in
        calls.add()
        return Part()
      })
    let task = Task { [context] in try await context.warmUp() }
    await begun.wait()
    task.cancel()
    goOn.arrive()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(calls.count == 0 && operations.count == 0)
    try await context.warmUp()
    #expect(calls.count == 5)
  }

  /// Nor do the closures that are running then make anything.
  @Test func whatAClosureRequiresIsNotMadeForACancelledWarmUp() async throws {
    let (calls, task) = (Tally(), Locked<Task<Void, any Error>?>(nil))
    context.register((any Service).self, lifetime: .context) { context in
      task.withLock { $0?.cancel() }
      _ = try context.require((any Other).self)
      return Plain()
    }
    context.register((any Other).self, lifetime: .context) {
      calls.add()
      return Plain()
    }
    let isKnown = Latch()
    let warmUp = Task { [context] in
      await isKnown.wait()
      try await context.warmUp((any Service).self)
    }
    task.withLock { $0 = warmUp }
    isKnown.arrive()
    await #expect(throws: CancellationError.self) { try await warmUp.value }
    #expect(calls.count == 0)
  }

  /// What is being made when the warm-up is cancelled is kept, and runs after the next one.
  @Test(arguments: [false, true]) func anOperationThatIsPutOff(_ isAsynchronous: Bool) async throws {
    let (begun, runs, task) = (Latch(), Tally(), Locked<Task<Void, any Error>?>(nil))
    // The last moment at which the warm-up can be cancelled before the operation begins.
    let cancel = { @Sendable (_: UDIContext, _: any Service) in task.withLock { $0?.cancel() } ?? () }
    let run = { @Sendable (_: any Service) async in
      runs.add()
      begun.arrive()
    }
    if isAsynchronous {
      context.register((any Service).self, lifetime: .context, { () async in Plain() }).onCreate(cancel)
        .running(mayEnd: true, run)
    } else {
      context.register((any Service).self, lifetime: .context, { Plain() }).onCreate(cancel)
        .running(mayEnd: true, run)
    }
    await expectCancelledWarmUp(in: task)
    let first = try await context.obtain((any Service).self)
    #expect(runs.count == 0)
    try await context.warmUp()
    await begun.wait()
    #expect(runs.count == 1 && context.link((any Service).self) === first)
    try await context.close()
  }

  /// Warms up the context in a task that one of its factories cancels. It begins when the factory can find the task.
  private func expectCancelledWarmUp(in task: Locked<Task<Void, any Error>?>) async {
    let isKnown = Latch()
    let warmUp = Task { [context] in
      await isKnown.wait()
      try await context.warmUp()
    }
    task.withLock { $0 = warmUp }
    isKnown.arrive()
    await #expect(throws: CancellationError.self) { try await warmUp.value }
  }

  /// Another instance, made in between, runs at once, and leaves the first one to the next warm-up.
  @Test func oneOfTwoOperationsThatIsPutOff() async throws {
    let (journal, task) = (Journal(), Locked<Task<Void, any Error>?>(nil))
    context.register((any Alpha).self, lifetime: .context) { (_, label: String) in
      Made(label)
    }.running(mayEnd: true) { made in
      journal.add((made as? Made)?.label ?? "")
    }
    context.register((any Service).self, lifetime: .context) { context in
      _ = try context.require((any Alpha).self, with: "first")
      task.withLock { $0?.cancel() }
      return Plain()
    }
    await expectCancelledWarmUp(in: task)
    _ = try context.require((any Alpha).self, with: "second")
    await eventually { journal.all == ["second"] }
    try await context.warmUp()
    // This waits for the operations that have begun.
    try await context.close()
    #expect(journal.all == ["second", "first"])
  }

  @Test func cancellation() async {
    let begun = Latch()
    context.register((any Service).self, lifetime: .context) {
      begun.arrive()
      try await untilCancelled()
      return Plain()
    }
    let task = Task { try await context.warmUp() }
    await begun.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
