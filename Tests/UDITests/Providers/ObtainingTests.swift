import Dispatch
import Testing

@testable import UDI

/// How `obtain` makes what synchronous factories lack: which factories run again, and how often.
@Suite(.unlessItHangs, .silent) struct ObtainingTests {
  let context = UDIContext(tag: "context")

  private final class Part: Sendable {}

  private final class Whole: Sendable {
    let parts: [Part]
    init(_ parts: [Part]) { self.parts = parts }
    convenience init(one: Part, other: Part) { self.init([one, other]) }
    convenience init(part: Part) { self.init([part]) }
    convenience init(whole: Whole) { self.init(whole.parts) }
    convenience init(whole: Whole, part: Part) { self.init(whole.parts + [part]) }
    convenience init(optional: Part?) { self.init([optional].compactMap(\.self)) }
  }

  private func registerParts(_ count: Int, _ lifetime: UDILifetime = .context) -> Tally {
    let made = Tally()
    for number in 0..<count {
      context.register(Part.self, named: UDIName(number), lifetime: lifetime) { () async in
        made.add()
        return Part()
      }
    }
    return made
  }

  // MARK: - Factories

  @Test(arguments: [1, 300]) func aFactoryRunsAgainAsLongAsSomethingWasMade(_ count: Int) async throws {
    let (made, runs) = (registerParts(count), Tally())
    context.register(Whole.self, lifetime: .context) { context in
      runs.add()
      return Whole(try (0..<count).map { try context.require(Part.self, named: UDIName($0)) })
    }
    #expect(try await context.obtain(Whole.self).parts.count == count)
    #expect(made.count == count && runs.count == count + 1)
  }

  @Test func withOtherArgumentsEachTimeToo() async throws {
    context.register(Part.self, lifetime: .context) { (_, _: Int) async in Part() }
    context.register(Whole.self, lifetime: .context) { context in
      Whole(try (0..<300).map { try context.require(Part.self, with: $0) })
    }
    #expect(try await context.obtain(Whole.self).parts.count == 300)
  }

  /// Of factories that run inside one another, only the innermost runs again before its instance is made.
  @Test func onlyTheInnermostRunsAgain() async throws {
    _ = registerParts(20)
    let (inner, outer) = (Tally(), Tally())
    context.register(Whole.self, named: "inner", lifetime: .context) { context in
      inner.add()
      return Whole(try (0..<20).map { try context.require(Part.self, named: UDIName($0)) })
    }
    context.register(Whole.self, named: "middle") { context in
      Whole(whole: try context.require(Whole.self, named: "inner"))
    }
    context.register(Whole.self, lifetime: .context) { context in
      outer.add()
      return Whole(whole: try context.require(Whole.self, named: "middle"))
    }
    #expect(try await context.obtain(Whole.self).parts.count == 20)
    #expect(inner.count == 21 && outer.count == 2)
  }

  @Test func aServiceForEachOfManyParts() async throws {
    _ = registerParts(250)
    for number in 0..<250 {
      context.register(Whole.self, named: UDIName(number), lifetime: .context) { context in
        Whole(part: try context.require(Part.self, named: UDIName(number)))
      }
    }
    context.register(Whole.self, lifetime: .context) { context in
      Whole(try (0..<250).flatMap { try context.require(Whole.self, named: UDIName($0)).parts })
    }
    #expect(try await context.obtain(Whole.self).parts.count == 250)
  }

  /// The factory that asked can do without the one that fails.
  @Test func anInnerFactoryThatFails() async throws {
    context.register(Part.self, lifetime: .context) { () async in Part() }
    context.register(Whole.self, named: "inner", lifetime: .context) { context in
      _ = try context.require(Part.self)
      throw OutOfOrder()
    }
    context.register(Whole.self) { context in
      do { return Whole(whole: try context.require(Whole.self, named: "inner")) } catch is OutOfOrder {
        return Whole([])
      }
    }
    #expect(try await context.obtain(Whole.self).parts.isEmpty)
  }

  /// What `obtain` makes is missed only for a moment, so it is not explained at length.
  @Test func whatIsMadeNextIsNotExplained() async throws {
    context.register(Part.self, lifetime: .context) { () async in Part() }
    let missed = Locked<[UDILinkError]>([])
    context.register(Whole.self) { context in
      do { return Whole(part: try context.require(Part.self)) } catch let error as UDILinkError {
        missed.withLock { $0.append(error) }
        throw error
      }
    }
    _ = try await context.obtain(Whole.self)
    let error = missed.withLock(\.self).first
    #expect(missed.withLock(\.count) == 1 && error?.cause == .asynchronous(nil))
    #expect(error?.explanation.contexts.isEmpty == true && error?.chain.last?.line != nil)
    // Without `obtain`, it is.
    context.reset()
    #expect(throws: UDILinkError.self) { try context.require(Whole.self) }
    #expect(missed.withLock(\.last)?.explanation.contexts.isEmpty == false)
  }

  /// If nothing is made, the factories that missed it count as failed.
  @Test func whatStaysMissing() async throws {
    context.register(Part.self) { () async in Part() }
    context.register(Whole.self) { context in Whole(part: try context.require(Part.self)) }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Whole.self) }
    #expect(error?.explanation.contexts.isEmpty == false)
    let failed = context.explain(Whole.self)
    #expect("\(failed.cause)".hasPrefix("failed"), "\(failed)")
    #expect(failed.summary.contains("Part is asynchronous, and no instance is kept."), "\(failed)")
    // As soon as it has made something, that is forgotten.
    context.register(Part.self, lifetime: .context, replaces: true) { () async in Part() }
    _ = try await context.obtain(Whole.self)
    let found = context.explain(Whole.self)
    #expect("\(found.cause)".hasPrefix("found"), "\(found)")
  }

  /// An error names what was asked for, whatever serves it.
  @Test(arguments: [UDILifetime.unique, .context]) func theNameInTheError(_ lifetime: UDILifetime) async throws {
    let names = Locked<[String?]>([])
    context.register(Part.self, named: "db", lifetime: lifetime) { () async in Part() }
      .implements(Part.self, named: "x")
    context.register(Whole.self) { context in
      do { return Whole(part: try context.require(Part.self, named: "x")) } catch let error as UDILinkError {
        names.withLock { $0 += [error.explanation.name, error.chain.last?.name] }
        throw error
      }
    }
    _ = try? await context.obtain(Whole.self)
    #expect(names.withLock(\.self) == ["x", "x"])
  }

  /// What one factory would do without, another may require.
  @Test func whatAnotherFactoryRequires() async throws {
    context.register(Part.self, named: "good", lifetime: .context) { () async in Part() }
    context.register(Part.self, named: "bad", lifetime: .context) { () async throws -> Part? in throw OutOfOrder() }
    context.register(Whole.self, named: "inner") { context in
      Whole([context.link(Part.self, named: "good")].compactMap(\.self))
    }
    context.register(Whole.self) { context in
      let inner = try? context.require(Whole.self, named: "inner")
      return Whole((inner?.parts ?? []) + [try context.require(Part.self, named: "bad")])
    }
    await #expect(throws: OutOfOrder.self) { try await context.obtain(Whole.self) }
  }

  // MARK: - Initialisers

  /// The parameters are made one after the other, each once, and then the initialiser is called, once.
  @Test(arguments: [UDILifetime.unique, .context], [UDILifetime.unique, .graph, .weak, .context])
  func anInitialiserIsCalledOnce(_ lifetime: UDILifetime, _ ofParts: UDILifetime) async throws {
    let (synchronous, asynchronous, calls) = (Tally(), Tally(), Tally())
    context.register(Plain.self) {
      synchronous.add()
      return Plain()
    }
    context.register(Part.self, lifetime: ofParts) { () async in
      asynchronous.add()
      return Part()
    }
    context.register(Whole.self, lifetime: lifetime) { (plain: Plain, one: Part, other: Part) in
      calls.add()
      return Whole(one: one, other: other)
    }
    let whole = try await context.obtain(Whole.self)
    #expect(synchronous.count == 1 && calls.count == 1)
    #expect(asynchronous.count == ([.weak, .context].contains(ofParts) ? 1 : 2) || ofParts == .graph)
    #expect((whole.parts[0] === whole.parts[1]) == (asynchronous.count == 1))
  }

  @Test func initialisersInsideOneAnother() async throws {
    let parts = Tally()
    context.register(Part.self) { () async in
      parts.add()
      return Part()
    }
    context.register(Whole.self, named: "unused") { _ in Whole([]) }
    context.register(Made.self, using: { (whole: Whole) in Made(parts: whole.parts) })
    context.register(Whole.self, using: Whole.init(one:other:))
    context.register(Plain.self, using: { (made: Made, part: Part) in Plain("\(made.parts.count + 1)") })
    #expect(try await context.obtain(Plain.self).label == "3")
    #expect(parts.count == 3)
  }

  @Test func anOptionalParameter() async throws {
    context.register(Whole.self, using: Whole.init(optional:))
    #expect(try await context.obtain(Whole.self).parts.isEmpty)
    context.register(Part.self) { () async in Part() }
    #expect(try await context.obtain(Whole.self).parts.count == 1)
  }

  /// Nor does an initialiser do without in a look, because `obtain` could still make the parameter.
  @Test func anOptionalParameterInALook() async throws {
    context.register(Part.self, lifetime: .context) { () async in Part() }
    context.register(Whole.self, using: Whole.init(optional:))
    var iterator = context.updates(of: Whole.self).makeAsyncIterator()
    let first = await iterator.next()
    #expect(first != nil && first! == nil)
  }

  @Test func theErrorNamesTheParameter() async throws {
    context.register(Part.self) { () async in Part() }
    context.register(Plain.self, using: { (part: Part, other: any Other) in Plain() })
    context.register(Made.self, using: { (part: Part, plain: Plain) in Made() })
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Made.self) }
    #expect(error?.chain.map(\.parameter) == [2, 2, nil], "\(error?.description ?? "")")
    #expect(error?.chain.last?.typeName == "UDITests.Other")
  }

  // MARK: - In an asynchronous factory

  @Test func theErrorSaysThatTheFactoryCanObtain() async throws {
    context.register(Part.self, lifetime: .context) { () async in Part() }
    context.register(Whole.self, lifetime: .context) { context in Whole(part: try context.require(Part.self)) }
    context.register(Plain.self, lifetime: .context) { context async throws in
      _ = try context.require(Whole.self)
      return Plain()
    }
    let text = await #expect(throws: UDILinkError.self) { try await context.obtain(Plain.self) }?.description ?? ""
    #expect(text.contains("so can an asynchronous factory that needs it: `try await context.obtain()`"), "\(text)")
  }

  @Test func theTypeIsInferred() async throws {
    context.register(Part.self, lifetime: .context) { () async in Part() }
    context.register(Whole.self) { context async throws in Whole(part: try await context.obtain()) }
    let whole: Whole = try await context.obtain()
    let part: Part? = try await context.obtain()
    #expect(whole.parts[0] === part)
    let member = Member().attached(to: context)
    let same: Part = try await member.obtain()
    let optional: Part? = try await member.obtain()
    #expect(same === part && optional === part)
  }

  private final class Loner {}

  @MainActor @Test func theTypeIsInferredOnTheMainActorToo() async throws {
    context.register(Loner.self, lifetime: .context) { () async in Loner() }
    let one: Loner = try await context.obtain()
    let other: Loner? = try await Member().attached(to: context).obtain()
    #expect(one === other)
  }

  // MARK: - Cancellation

  /// An actor with a thread of its own, so that a test may block it.
  private actor Busy {
    private final class OwnThread: SerialExecutor {
      private let queue = DispatchQueue(label: "busy")
      func enqueue(_ job: UnownedJob) {
        let executor = unsafe asUnownedSerialExecutor()
        queue.async { unsafe job.runSynchronously(on: executor) }
      }
    }

    private let executor = OwnThread()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func register(_ runs: Tally, in context: UDIContext) {
      context.register(Part.self, lifetime: .context) {
        // The closure belongs to this actor.
        self.note(runs)
        return Part()
      }
    }

    private func note(_ runs: Tally) { runs.add() }

    func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }
    func rest() {}
  }

  /// The actor is busy until the cancelled task has stopped waiting.
  @Test func aCancelledTaskDoesNotWaitForABusyActor() async throws {
    let (context, busy, runs, free, asks) = (context, Busy(), Tally(), DispatchSemaphore(value: 0), Latch())
    await busy.register(runs, in: context)
    let blocked = Task { await busy.wait(for: free) }
    let waiting = Task {
      try await Schedule.$hook.withValue({ if $0 == .waits { asks.arrive() } }) { try await context.obtain(Part.self) }
    }
    await asks.wait()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    free.signal()
    await blocked.value
    // What was cancelled is not made when the actor is free.
    await busy.rest()
    #expect(runs.count == 0)
    _ = try await context.obtain(Part.self)
    #expect(runs.count == 1)
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
