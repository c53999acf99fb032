import Foundation
import Testing

@testable import UDI

/// Lets asynchronous code wait until something has happened a number of times.
final class Latch: Sendable {
  private let state: Locked<(remaining: Int, waiters: [CheckedContinuation<Void, Never>])>

  init(_ count: Int = 1) { state = Locked((count, [])) }

  func arrive() {
    let waiters = state.withLock { state in
      state.remaining -= 1
      guard state.remaining <= 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.remaining > 0 { state.waiters.append(continuation) }
        return state.remaining <= 0
      }
      if isOpen { continuation.resume() }
    }
  }
}

extension Locked {
  var current: Value { withLock { $0 } }
}

/// Suspends until the current task is cancelled.
func untilCancelled() async throws {
  let latch = Latch()
  await withTaskCancellationHandler {
    await latch.wait()
  } onCancel: {
    latch.arrive()
  }
  throw CancellationError()
}

@Suite(.unlessItHangs, .silent) struct AsyncFactoryTests {
  let context = UDIContext(tag: "context")

  /// Runs an operation, and counts at the latch each time that a task begins to wait.
  func counting(
    _ latch: Latch, _ operation: nonisolated(nonsending) () async throws -> Void
  ) async rethrows {
    try await Schedule.$hook.withValue({ if $0 == .waits { latch.arrive() } }, operation: operation)
  }

  // MARK: - Lifetimes

  @Test func obtainMakesAndLinkFindsWhatIsKept() async throws {
    context.register((any Service).self, lifetime: .context) { _ in
      await Task.yield()
      return Plain("made")
    }
    #expect(context.link((any Service).self) == nil)
    let made = try await context.obtain((any Service).self)
    #expect(context.link((any Service).self) === made)
    #expect(try await context.obtain((any Service).self) === made)
    context.reset()
    #expect(context.link((any Service).self) == nil)
    #expect(try await context.obtain((any Service).self) !== made)
  }

  @Test func uniqueIsMadeEachTimeAndNeverKept() async throws {
    context.register((any Service).self, lifetime: .unique) {
      await Task.yield(); return Plain()
    }
    let (one, other) = (
      try await context.obtain((any Service).self), try await context.obtain((any Service).self)
    )
    #expect(one !== other)
    #expect(context.link((any Service).self) == nil)
  }

  @Test func weakIsKeptWhileSomebodyHoldsIt() async throws {
    context.register((any Service).self, lifetime: .weak) {
      await Task.yield(); return Plain()
    }
    weak var witness: (any Service)?
    do {
      let held = try await context.obtain((any Service).self)
      witness = held
      #expect(try await context.obtain((any Service).self) === held)
      #expect(context.link((any Service).self) === held)
      withExtendedLifetime(held) {}
    }
    #expect(witness == nil)
    #expect(context.link((any Service).self) == nil)
    _ = try await context.obtain((any Service).self)
  }

  @Test func graphSharesWithinOneObtain() async throws {
    final class Pair: Sendable {
      let one: any Service, other: any Service
      init(_ one: any Service, _ other: any Service) { (self.one, self.other) = (one, other) }
    }
    context.register((any Service).self, lifetime: .graph) {
      await Task.yield(); return Plain()
    }
    context.register(Pair.self, lifetime: .graph) { context in
      async let one = context.obtain((any Service).self)
      async let other = context.obtain((any Service).self)
      return Pair(try await one, try await other)
    }
    let (first, second) = (try await context.obtain(Pair.self), try await context.obtain(Pair.self))
    #expect(first.one === first.other)
    #expect(second.one === second.other)
    #expect(first.one !== second.one)
  }

  @Test func anOwnLifetimeAndACustomStorageKeepIt() async throws {
    for lifetime in [UDILifetime("session"), UDILifetime("stored", storage: .custom { SharedCreationTests.Strong() })] {
      context.register((any Service).self, lifetime: lifetime) {
        await Task.yield(); return Plain()
      }
      let made = try await context.obtain((any Service).self)
      #expect(context.link((any Service).self) === made)
      #expect(try await context.obtain((any Service).self) === made)
      context.reset(lifetime)
      #expect(context.link((any Service).self) == nil)
    }
  }

  @Test func argumentsNamesAndKeys() async throws {
    context.register((any Loose).self, named: "n", lifetime: .context) { (_, number: Int, text: String) in
      await Task.yield()
      return Plain("\(number)\(text)")
    }
    let one = try await context.obtain((any Loose).self, named: "n", with: 1, "a") as? Plain
    #expect(one?.label == "1a")
    #expect(try await context.obtain((any Loose).self, named: "n", with: 1, "a") as? Plain === one)
    #expect(try await context.obtain((any Loose).self, named: "n", with: 2, "a") as? Plain !== one)
    #expect(context.link((any Loose).self, named: "n", with: 1, "a") as? Plain === one)
    #expect(context.link((any Loose).self, named: "n", with: 3, "a") == nil)
    await #expect(throws: UDILinkError.self) { try await context.obtain((any Loose).self, named: "n", with: 1) }
    context.register((any Service).self, named: "k", lifetime: .context) {
      await Task.yield(); return Plain("k")
    }
    let key = UDIKey((any Service).self, named: "k")
    let keyed = try await context.obtain(key)
    #expect(context.link(key) === keyed)
    let member = Member().attached(to: context)
    #expect(try await member.obtain((any Service).self, named: "k") === keyed)
    #expect(try await member.obtain(key) === keyed)
  }

  // MARK: - By an initialiser

  final class Notepad: Service {
    let service: any Other, clock: (any Loose)?
    init(service: any Other, clock: (any Loose)?) async throws { (self.service, self.clock) = (service, clock) }
  }
  final class Desk: Sendable {
    let pad: any Service
    init(pad: any Service) { self.pad = pad }
  }

  @Test func initialisers() async throws {
    context.register((any Other).self, lifetime: .context) {
      await Task.yield(); return Plain("other")
    }
    context.register((any Service).self, lifetime: .context, using: Notepad.init(service:clock:))
    context.register(Desk.self, lifetime: .context, using: Desk.init(pad:))
    // A synchronous initialiser whose parameter is asynchronous: `obtain` makes that first.
    let desk = try await context.obtain(Desk.self)
    let pad = try #require(desk.pad as? Notepad)
    #expect(pad.clock == nil)
    #expect(context.link(Desk.self) === desk)
    #expect(context.link((any Other).self) === pad.service)
  }

  /// Runs on its caller's actor, as all asynchronous functions without an isolation do under
  /// `NonisolatedNonsendingByDefault`.
  nonisolated(nonsending) private static func open(service: any Other, clock: (any Loose)?) async throws -> Notepad {
    await Task.yield()
    #expect(!runsOnMainActor)
    return try await Notepad(service: service, clock: clock)
  }

  @Test @MainActor func functionsThatRunOnTheirCallersActor() async throws {
    let journal = Locked<[String]>([])
    context.register((any Other).self) { Plain("other") }
    context.register((any Service).self, lifetime: .context, using: Self.open(service:clock:)).onCreate { _, _ in
      journal.withLock { $0.append("created") }
    }.onClose { _ in
      journal.withLock { $0.append("closed") }
    }
    let pad = try await context.obtain((any Service).self) as? Notepad
    #expect((pad?.service as? Plain)?.label == "other" && pad?.clock == nil)
    try await context.close()
    #expect(journal.current == ["created", "closed"])
  }

  /// Not `Sendable`.
  final class Paper {
    let text: String
    init(_ text: String) { self.text = text }
    @MainActor convenience init(paper: Paper, other: any Other) async throws {
      await Task.yield()
      MainActor.assertIsolated()
      self.init("copy of \(paper.text)")
    }
    init(service: any Service) async {
      await Task.yield()
      text = ""
    }
  }
  @MainActor final class Press: Sendable {
    let paper: Paper, missing: Paper?
    init(paper: Paper, missing: Paper?) async {
      await Task.yield()
      (self.paper, self.missing) = (paper, missing)
    }
  }

  @Test @MainActor func initialisersOfTheMainActorForWhatIsNotSendable() async throws {
    var journal: [String] = []
    context.register((any Other).self, lifetime: .context) {
      await Task.yield(); return Plain("other")
    }
    context.register(Paper.self) { Paper("a") }
    context.register(named: "copy", lifetime: .context, using: Paper.init(paper:other:)).onCreate { _, paper in
      journal.append("created \(paper.text)")
    }.onClose { paper in
      journal.append("closed \(paper.text)")
    }
    let copy = try await context.obtain(Paper.self, named: "copy")
    #expect(context.link(Paper.self, named: "copy") === copy)
    try await context.close()
    #expect(journal == ["created copy of a", "closed copy of a"])
  }

  /// What is `Sendable` is found as such, although a parameter of its initialiser is not.
  @Test func aSendableTypeWithAParameterThatIsNot() async throws {
    let press = try await Self.register(in: context)
    #expect(context.link(Press.self) === press)
    #expect(await MainActor.run { press.paper.text } == "a")
  }

  @MainActor private static func register(in context: UDIContext) async throws -> Press {
    context.register(Paper.self) { Paper("a") }
    context.register(lifetime: .context, using: Press.init(paper:missing:))
    context.register(Paper?.self) { nil }
    let press = try await context.obtain(Press.self)
    #expect(press.missing?.text == "a")
    context.unregister(Paper.self)
    context.reset()
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Press.self) }
    #expect(error?.description.contains("parameter 1") == true)
    context.register(Paper.self) { Paper("a") }
    return try await context.obtain(Press.self)
  }

  @Test func anInitialiserThatIsNotOfTheMainActorIsRefusedForWhatIsNotSendable() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run { _ = UDIContext(tag: "context").register(using: Paper.init(service:)) }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("AsyncFactoryTests.swift") && message.contains("Write `@MainActor` before it"))
  }

  final class Part: Sendable {
    private let census: Census?
    init(_ census: Census? = nil) {
      self.census = census
      census?.born()
    }
    deinit { census?.died() }
  }
  final class Left: Sendable {
    let part: Part
    init(part: Part) { self.part = part }
  }
  final class Right: Sendable {
    let part: Part
    init(part: Part) async {
      await Task.yield()
      self.part = part
    }
  }
  struct Kept: Sendable { let left: Left }
  final class Whole: Sendable {
    let parts: [Part], kept: Left
    init(part: Part, left: Left, again: Part?, right: Right, kept: Kept, last: Left) async {
      (parts, self.kept) = ([part, left.part, again ?? Part(), right.part, last.part], kept.left)
    }
  }

  /// Like the parameters of a synchronous initialiser.
  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context])
  func theParametersOfAnInitialiserShareAGraph(_ lifetime: UDILifetime) async throws {
    let census = Census()
    context.register(Part.self, lifetime: .graph) { @MainActor in Part(census) }
    context.register(lifetime: .unique, using: Left.init(part:))
    context.register(lifetime: .graph, using: Right.init(part:))
    // An instance that is kept has its own graph.
    context.register(lifetime: .context) { @MainActor context in Kept(left: try context.require(Left.self)) }
    context.register(lifetime: lifetime, using: Whole.init)
    let whole = try await context.obtain(Whole.self)
    #expect(whole.parts.allSatisfy { $0 === whole.parts[0] } && whole.kept.part !== whole.parts[0])
    #expect(census.everBorn == 2)
    context.reset()
    let other = try await context.obtain(Whole.self)
    #expect(other.parts[0] !== whole.parts[0] && census.everBorn == 4)
  }

  /// The graph ends with the making.
  @Test func whatTheParametersShareIsReleased() async throws {
    let census = Census()
    context.register(Part.self, lifetime: .graph) { Part(census) }
    context.register(lifetime: .unique, using: Left.init(part:))
    context.register(Bool.self, lifetime: .unique, using: { (left: Left, part: Part) async in left.part === part })
    #expect(try await context.obtain(Bool.self))
    #expect(census.everBorn == 1 && census.alive == 0)
  }

  /// What is not `Sendable` stays on the main actor, although lookups elsewhere share the graph.
  @Test func whatTheParametersShareIsReleasedOnTheMainActor() async throws {
    let released = Latch()
    await Self.registerMortal(in: context) {
      #expect(runsOnMainActor)
      released.arrive()
    }
    context.register(Int.self, lifetime: .unique, using: { (text: String, number: Double) async in text.count })
    context.register(Double.self, lifetime: .unique) { 1 }
    #expect(try await context.obtain(Int.self) == 4)
    await released.wait()
  }

  @MainActor private static func registerMortal(in context: UDIContext, _ die: @escaping @Sendable () -> Void) {
    final class Mortal {
      let die: @Sendable () -> Void
      init(_ die: @escaping @Sendable () -> Void) { self.die = die }
      deinit { die() }
    }
    context.register(Mortal.self, lifetime: .graph) { Mortal(die) }
    context.register(String.self, lifetime: .unique) { @MainActor context in
      context.link(Mortal.self) == nil ? "" : "text"
    }
  }

  @Test func aMissingParameterIsNamed() async throws {
    context.register((any Service).self, lifetime: .context, using: Notepad.init(service:clock:))
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Service).self) }
    #expect(error?.description.contains("parameter 1") == true)
  }

  /// An optional parameter that is asynchronous is not missing: it is made, and nobody complains.
  @Test func optionalParameterThatIsAsynchronous() async throws {
    final class Wants: Sendable {
      let other: (any Other)?
      init(other: (any Other)?) { self.other = other }
    }
    context.register((any Other).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    context.register(Wants.self, lifetime: .context, using: Wants.init(other:))
    #expect(context.link(Wants.self) == nil)
    let (wants, misuse) = try await MisuseLog.during { try await context.obtain(Wants.self) }
    #expect(wants.other != nil && misuse.isEmpty, "\(misuse)")
  }

  @Test func anInitialiserIsCalledOnceWhatItNeedsIsMade() async throws {
    let runs = Locked(0)
    context.register((any Other).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    context.register(
      (any Service).self, lifetime: .context,
      using: { (_: any Other) in
        runs.withLock { $0 += 1 }
        return Plain("needs")
      })
    context.register(Desk.self, using: Desk.init(pad:))
    #expect((try await context.obtain(Desk.self).pad as? Plain)?.label == "needs")
    #expect(runs.current == 1)
  }

  @Test func whatIsNotKeptCannotReachASynchronousFactory() async throws {
    context.register((any Other).self, lifetime: .unique) {
      await Task.yield(); return Plain()
    }
    context.register((any Service).self) { context in
      _ = try context.require((any Other).self)
      return Plain()
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Service).self) }
    #expect(error?.cause == .asynchronous(nil))
  }

  // MARK: - Explanations

  @Test func aSynchronousMissNamesObtain() throws {
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    let error = #expect(throws: UDILinkError.self) { try context.require((any Service).self) }
    #expect(error?.cause == .asynchronous(nil))
    #expect(error?.description.contains("`obtain`") == true)
    #expect(context.explain((any Service).self).cause == .asynchronous(nil))
  }

  @Test func nilAndErrorsAreNotKept() async throws {
    struct Failure: Error {}
    let runs = Locked(0)
    context.register((any Service).self, lifetime: .context) {
      await Task.yield()
      switch runs.withLock({ (count: inout Int) in
        count += 1; return count
      }) {
      case 1: return nil
      case 2: throw Failure()
      default: return Plain()
      }
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Service).self) }
    #expect(error?.cause == .factoryReturnedNil)
    await #expect(throws: Failure.self) { try await context.obtain((any Service).self) }
    _ = try await context.obtain((any Service).self)
    #expect(runs.current == 3)
  }

  // MARK: - Exactly once

  @Test func tasksAndThreadsGetTheSame() async throws {
    let (waiting, made) = (Latch(80), Locked(0))
    context.register((any Service).self, lifetime: .context) {
      made.withLock { $0 += 1 }
      await waiting.wait()
      return Plain()
    }
    let found = Locked<[(any Service)?]>([])
    await counting(waiting) {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<64 {
          group.addTask {
            let one = try? await context.obtain((any Service).self)
            found.withLock { $0.append(one) }
          }
        }
        for _ in 0..<16 {
          group.addTask {
            await withCheckedContinuation { continuation in
              Thread.detachNewThread {
                let hooked = DispatchSemaphore(value: 0)
                Task {
                  await counting(waiting) {
                    let one = try? await context.obtain((any Service).self)
                    found.withLock { $0.append(one) }
                  }
                  hooked.signal()
                }
                hooked.wait()
                continuation.resume()
              }
            }
          }
        }
      }
    }
    #expect(made.current == 1)
    #expect(found.current.count == 80 && found.current.allSatisfy { $0 != nil && $0 === found.current[0] })
  }

  @Test func halfOfTheWaitersAreCancelled() async throws {
    let (waiting, cancelled, release, made) = (Latch(64), Latch(32), Latch(), Locked(0))
    context.register((any Service).self, lifetime: .context) {
      made.withLock { $0 += 1 }
      await release.wait()
      return Plain()
    }
    await counting(waiting) {
      let tasks = (0..<64).map { index in
        Task {
          do {
            let found = try await context.obtain((any Service).self)
            return found as (any Service)?
          } catch {
            #expect(error is CancellationError)
            cancelled.arrive()
            return nil
          }
        }
      }
      await waiting.wait()
      for task in tasks[..<32] { task.cancel() }
      // They leave although the factory has not ended.
      await cancelled.wait()
      release.arrive()
      var found: [(any Service)?] = []
      for task in tasks { found.append(await task.value) }
      #expect(found[..<32].allSatisfy { $0 == nil })
      #expect(found[32...].allSatisfy { $0 != nil && $0 === found[32] })
    }
    #expect(made.current == 1)
  }

  @Test func ifNobodyWaitsTheMakingIsCancelledAndTheNextBeginsAnew() async throws {
    let (waiting, begun, ended, made) = (Latch(8), Latch(), Latch(), Locked(0))
    context.register((any Service).self, lifetime: .context) {
      if made.withLock({ (count: inout Int) in
        count += 1; return count
      }) > 1 {
        return Plain("anew")
      }
      begun.arrive()
      do { try await untilCancelled() } catch {
        ended.arrive()
        throw error
      }
      return Plain("first")
    }
    await counting(waiting) {
      let tasks = (0..<8).map { _ in Task { try await context.obtain((any Service).self) } }
      await waiting.wait()
      await begun.wait()
      for task in tasks { task.cancel() }
      await ended.wait()
      for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    }
    #expect((try await context.obtain((any Service).self) as? Plain)?.label == "anew")
    #expect(made.current == 2)
  }

  /// The factory ignores that it is cancelled. What it makes is dropped, and no second call runs beside it.
  @Test func aFactoryThatIgnoresItsCancellation() async throws {
    let (begun, release, running, made) = (Latch(), Latch(), Locked(0), Locked(0))
    context.register((any Service).self, lifetime: .context) {
      #expect(
        running.withLock({ (count: inout Int) in
          count += 1; return count
        }) == 1)
      let number = made.withLock { (count: inout Int) in
        count += 1; return count
      }
      begun.arrive()
      await release.wait()
      running.withLock { $0 -= 1 }
      return Plain("\(number)")
    }
    let first = Task { try await context.obtain((any Service).self) }
    await begun.wait()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    let waiting = Latch()
    await counting(waiting) {
      let second = Task { try await context.obtain((any Service).self) }
      await waiting.wait()
      release.arrive()
      #expect((try? await second.value as? Plain)?.label == "2")
    }
  }

  @Test func aCancelledTaskBeginsNothing() async {
    let made = Locked(0)
    context.register((any Service).self, lifetime: .context) {
      made.withLock { $0 += 1 }; await Task.yield(); return Plain()
    }
    let task = Task {
      try? await untilCancelled()
      return try await context.obtain((any Service).self)
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(made.current == 0)
  }

  enum Values {
    @TaskLocal static var value = "none"
  }

  /// Who asked is cancelled while the instance is being completed, when it is kept already.
  @Test func whatIsKeptIsNoLongerCancelled() async throws {
    let (asker, cancelled) = (Locked<Task<any Alpha, any Error>?>(nil), Locked<[Bool]>([]))
    let begins = Latch()
    context.register((any Alpha).self) {
      await begins.wait()
      return Made()
    }.onCreate { _, _ in
      asker.withLock { $0 }?.cancel()
      cancelled.withLock { $0.append(Task.isCancelled) }
    }
    let context = context
    let task = Task { try await context.obtain((any Alpha).self) }
    asker.withLock { $0 = task }
    begins.arrive()
    await #expect(throws: CancellationError.self) { try await task.value }
    await eventually { !cancelled.current.isEmpty }
    #expect(cancelled.current == [false] && context.link((any Alpha).self) != nil)
  }

  /// A task goes on after the factory that has started it. What it obtains shares a graph of its own.
  @Test func afterItsEndAGraphSharesNothing() async throws {
    let (ends, made) = (Latch(), Locked<[ObjectIdentifier]>([]))
    context.register((any Gamma).self, lifetime: .graph) {
      await Task.yield()
      return Made("shared")
    }
    for name in ["left", "right"] as [UDIName] {
      context.register((any Beta).self, named: name, lifetime: .unique) { context in
        Made(parts: [try await context.obtain((any Gamma).self)])
      }
    }
    context.register((any Service).self, lifetime: .unique) { context in
      var parts: [any Sendable] = []
      for name in ["left", "right"] as [UDIName] {
        parts += (try await context.obtain((any Beta).self, named: name) as? Made)?.parts ?? []
      }
      return Made(parts: parts)
    }
    let later = Locked<Task<any Service, any Error>?>(nil)
    context.register((any Alpha).self, lifetime: .unique) { context in
      let part = try await context.obtain((any Gamma).self)
      made.withLock { $0.append(ObjectIdentifier(part)) }
      later.withLock {
        $0 = Task {
          await ends.wait()
          return try await context.obtain((any Service).self)
        }
      }
      return Made(parts: [part])
    }
    let first = try await context.obtain((any Alpha).self)
    ends.arrive()
    let parts = (try await later.current?.value as? Made)?.parts.compactMap { $0 as? Made } ?? []
    #expect(parts.count == 2 && parts[0] === parts[1], "they share one graph")
    #expect(!made.current.contains(ObjectIdentifier(parts[0])), "which is not that of the factory")
    withExtendedLifetime(first) {}
  }

  @Test func theFactoryHasTheTaskLocalValuesOfWhoBegan() async throws {
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain(Values.value)
    }
    let made = try await Values.$value.withValue("mine") { try await context.obtain((any Service).self) }
    #expect((made as? Plain)?.label == "mine")
  }

  @Test func aMoreUrgentWaiterRaisesThePriority() async throws {
    let (begun, isUrgent) = (Latch(), Latch())
    context.register((any Service).self, lifetime: .context) {
      let first = Task.currentPriority
      begun.arrive()
      // Only then is there little left to wait for. There is nothing else that tells of a new priority on all platforms.
      await isUrgent.wait()
      await eventually { Task.currentPriority > first }
      return Plain()
    }
    let slow = Task(priority: .low) { try await context.obtain((any Service).self) }
    await begun.wait()
    let urgent = Task(priority: .high) {
      isUrgent.arrive()
      return try await context.obtain((any Service).self)
    }
    #expect(try await slow.value === urgent.value)
  }

  // MARK: - Resets and ends

  @Test func aResetWhileItIsMade() async throws {
    let (begun, release) = (Latch(), Latch())
    context.register((any Service).self, lifetime: .context) {
      begun.arrive()
      await release.wait()
      return Plain()
    }
    let waiting = Task { try await context.obtain((any Service).self) }
    await begun.wait()
    context.reset()
    release.arrive()
    let first = try await waiting.value
    #expect(context.link((any Service).self) == nil)
    #expect(try await context.obtain((any Service).self) !== first)
  }

  @Test func theContextIsReleasedAfterItsMakings() async throws {
    weak var witness: UDIContext?
    weak var made: (any Service)?
    do {
      let context = UDIContext(tag: "context")
      witness = context
      context.register((any Service).self, lifetime: .context) { context in
        // This task outlives the factory, and has its task-local values.
        Task { try? await Task.sleep(for: .seconds(3600)) }
        _ = context.tag
        await Task.yield()
        return Plain()
      }
      made = try await context.obtain((any Service).self)
      #expect(made != nil)
    }
    await eventually { witness == nil }
    #expect(made == nil)
  }

  // MARK: - Making looks up

  @Test func nothingIsMadeFromWhatIsBelow() async throws {
    let child = try context.makeChild(tag: "child")
    let below = Plain("below")
    child.bind(below, as: (any Service).self)
    context.register((any Other).self, lifetime: .context) { context in
      await Task.yield()
      #expect(context.link((any Service).self) == nil)
      #expect(context.link((any Service).self, search: .descendants) === below)
      async let inside = context.link((any Service).self)
      #expect(await inside == nil)
      return Plain()
    }
    _ = try await context.obtain((any Other).self)
    #expect(context.link((any Service).self) === below)
  }

  // MARK: - Actors

  @MainActor final class Screen: @MainActor UDIObject {
    let _attachedContext = UDIAttachment()
    var attached = 0
    init() async {}
    func didAttachContext() { attached += 1 }
  }

  @MainActor @Test func onTheMainActor() async throws {
    context.register(Screen.self, lifetime: .context) { _ in
      MainActor.assertIsolated()
      return await Screen()
    }
    let screen = try await context.obtain(Screen.self)
    #expect(screen.attached == 1)
    #expect(screen.attachedContext === context)
    #expect(context.link(Screen.self) === screen)
  }

  final class Loose1 { init() async {} }

  @MainActor @Test func notSendableOnTheMainActor() async throws {
    let created = Locked(0)
    context.register(Loose1.self, lifetime: .context) {
      MainActor.assertIsolated()
      return await Loose1()
    }.onCreate { context, made in
      MainActor.assertIsolated()
      #expect(context.link(Loose1.self) === made)
      created.withLock { $0 += 1 }
    }
    let made = try await context.obtain(Loose1.self)
    #expect(try await context.obtain(Loose1.self) === made)
    #expect(created.current == 1)
  }

  @Test func onCreateRunsBeforeTheWaitersGetIt() async throws {
    let created = Locked<(any Service)?>(nil)
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }.onCreate { context, made in
      #expect(context.link((any Service).self) === made)
      created.withLock { $0 = made }
    }
    let made = try await context.obtain((any Service).self)
    #expect(created.current === made)
  }

  // MARK: - Aliases and watchers

  @Test func aliases() async throws {
    for lifetime in [UDILifetime.unique, .context, .weak] {
      let registration = context.register(Plain.self, lifetime: lifetime) {
        await Task.yield(); return Plain()
      }
      registration.implements((any Service).self)
      #expect(context.link((any Service).self) == nil)
      let served = try await context.obtain((any Service).self)
      #expect((context.link(Plain.self) === served) == (lifetime != .unique))
    }
  }

  @Test func whoWaitsForItGetsItWhenItHasBeenMade() async throws {
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    async let waited = context.linkWhenAvailable((any Service).self)
    await Task.yield()
    let made = try await context.obtain((any Service).self)
    #expect(try await waited === made)
  }
}
