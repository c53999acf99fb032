import Dispatch
import Testing

@testable import UDI

/// A factory is called once for each instance that it makes, whatever `obtain` has to wait for.
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

  // MARK: - Closures

  /// How a closure looks up what it needs.
  enum Verb: CaseIterable { case require, link, linkAll }

  private func registerWhole(_ verb: Verb, _ lifetime: UDILifetime) -> Tally {
    let calls = Tally()
    context.register(Whole.self, lifetime: lifetime) { context in
      calls.add()
      switch verb {
      case .require: return Whole(part: try context.require(Part.self, named: UDIName(0)))
      case .link: return Whole([context.link(Part.self, named: UDIName(0))].compactMap(\.self))
      case .linkAll: return Whole(context.linkAll(Part.self))
      }
    }
    return calls
  }

  /// A closure is called once, and what it lacks then is an error that says what to change.
  @Test(arguments: Verb.allCases, [UDILifetime.unique, .graph, .weak, .context])
  func aClosureThatLacksSomethingAsynchronous(_ verb: Verb, _ lifetime: UDILifetime) async throws {
    let made = registerParts(1)
    let calls = registerWhole(verb, lifetime)
    let (error, misuses) = await MisuseLog.during {
      await #expect(throws: UDILinkError.self) { try await context.obtain(Whole.self) }
    }
    #expect(calls.count == 1 && made.count == 0 && misuses.isEmpty)
    #expect(error?.cause == .asynchronous(nil) && error?.chain.map(\.isProvider) == [true, false])
    let text = error?.description ?? ""
    let closure = try #require(error?.chain.first)
    #expect(closure.line != nil && text.contains("Change the registration of \(closure)"), "\(text)")
    for word in ["`using:`", "`context.obtain()`", "`obtainAll`"] { #expect(text.contains(word), "\(text)") }
    #expect(!text.contains("Await `obtain`"), "\(text)")
    // Once it is made, the closure finds it.
    _ = try await context.obtain(Part.self, named: UDIName(0))
    #expect(try await context.obtain(Whole.self).parts.count == 1)
    #expect(calls.count == 2 && made.count == 1)
  }

  /// A synchronous lookup does without what it cannot wait for, and reports that.
  @Test func withoutObtainAClosureDoesWithout() throws {
    _ = registerParts(1)
    let calls = registerWhole(.linkAll, .context)
    let (whole, misuses) = MisuseLog.during { context.link(Whole.self) }
    #expect(whole?.parts.isEmpty == true && misuses.map(\.kind) == [.notMade] && calls.count == 1)
  }

  /// Whatever the closure does then: it has not got what `obtain` would make.
  @Test func aClosureThatReturnsNilOrThrowsForWantOfIt() async throws {
    _ = registerParts(1)
    context.register(Whole.self) { context in context.link(Part.self, named: UDIName(0)).map { Whole(part: $0) } }
    context.register(Plain.self) { context in
      guard context.link(Part.self, named: UDIName(0)) != nil else { throw OutOfOrder() }
      return Plain()
    }
    for error in [
      await #expect(throws: UDILinkError.self) { try await context.obtain(Whole.self) },
      await #expect(throws: UDILinkError.self) { try await context.obtain(Plain.self) },
    ] { #expect(error?.cause == .asynchronous(nil)) }
  }

  /// Who catches the error of `require` does without on purpose.
  @Test func aClosureThatCatchesTheError() async throws {
    _ = registerParts(1)
    context.register(Whole.self, named: "inner", lifetime: .context) { context in
      Whole(part: try context.require(Part.self, named: UDIName(0)))
    }
    context.register(Whole.self, lifetime: .context) { context in
      (try? context.require(Whole.self, named: "inner")) ?? Whole([])
    }
    #expect(try await context.obtain(Whole.self).parts.isEmpty)
  }

  /// Each closure runs once, and the error names the innermost one, which is to be changed.
  @Test(arguments: [false, true]) func closuresInsideOneAnother(_ links: Bool) async throws {
    _ = registerParts(1)
    let (inner, outer) = (Tally(), Tally())
    context.register(Whole.self, named: "inner", lifetime: .context) { context in
      inner.add()
      return Whole(context.linkAll(Part.self))
    }
    context.register(Whole.self, lifetime: .context) { context in
      outer.add()
      if links { return context.link(Whole.self, named: "inner") ?? Whole([]) }
      return Whole(whole: try context.require(Whole.self, named: "inner"))
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Whole.self) }
    #expect(error?.chain.map(\.name) == [nil, "inner", "Swift.Int 0"])
    #expect(error?.advice?.contains(#"Change the registration of \#(describeType(Whole.self)) named "inner""#) == true)
    #expect(inner.count == 1 && outer.count == 1)
    #expect(context.explain(Whole.self).description.contains("failed"))
  }

  /// What one closure has missed is not held against another one inside it.
  @Test func whatAnOuterClosureHasMissed() async throws {
    _ = registerParts(1)
    let inner = Tally()
    context.register(Plain.self, lifetime: .context) { context in
      inner.add()
      return Plain((try? context.require(Part.self, named: UDIName(0))) == nil ? "without" : "with")
    }
    context.register(Whole.self) { context in
      let part = context.link(Part.self, named: UDIName(0))
      return Whole(context.link(Plain.self)?.label == "without" ? [part].compactMap(\.self) : [Part()])
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Whole.self) }
    #expect(error?.chain.count == 2 && error?.chain.first?.typeName.hasSuffix("Whole") == true)
    #expect(context.link(Plain.self)?.label == "without" && inner.count == 1)
  }

  /// In an asynchronous closure, too, `link` and `linkAll` do not wait.
  @Test(arguments: Verb.allCases) func anAsynchronousClosureThatDoesNotObtain(_ verb: Verb) async throws {
    _ = registerParts(1)
    context.register(Whole.self, lifetime: .context) { context in
      await Task.yield()
      switch verb {
      case .require: return Whole(part: try context.require(Part.self, named: UDIName(0)))
      case .link: return Whole([context.link(Part.self, named: UDIName(0))].compactMap(\.self))
      case .linkAll: return Whole(context.linkAll(Part.self))
      }
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Whole.self) }
    #expect(error?.cause == .asynchronous(nil) && error?.advice?.contains("Change the registration of") == true)
    #expect(context.explain(Whole.self).description.contains("failed"))
  }

  /// A synchronous closure inside an asynchronous one is part of the same `obtain`.
  @Test func aClosureInsideAnAsynchronousOne() async throws {
    _ = registerParts(1)
    let calls = registerWhole(.link, .context)
    context.register(Plain.self, lifetime: .context) { context in
      await Task.yield()
      _ = context.link(Whole.self)
      return Plain()
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Plain.self) }
    #expect(error?.chain.count == 3 && calls.count == 1)
  }

  /// What is looked up when the instance is there already is not missed by its factory.
  @Test(arguments: [false, true]) func whatAnObjectOrACompletionMisses(_ isAsynchronous: Bool) async throws {
    _ = registerParts(1)
    let context = context
    let member = { @Sendable in Member { _ = $0.linkInLine(Part.self, named: UDIName(0)) } }
    let complete = { @Sendable (context: UDIContext, _: Member) in _ = context.link(Part.self, named: UDIName(0)) }
    if isAsynchronous {
      context.register(Member.self, lifetime: .context, { () async in member() }).onCreate(complete)
    } else {
      context.register(Member.self, lifetime: .context, { member() }).onCreate(complete)
    }
    let (_, misuses) = try await MisuseLog.during { try await context.obtain(Member.self) }
    #expect(misuses.map(\.kind) == [.notMade, .notMade])
  }

  @Test func whatIsMissingCountsAsAFailure() async throws {
    context.register(Part.self) { () async in Part() }
    context.register(Whole.self) { context in Whole(part: try context.require(Part.self)) }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Whole.self) }
    #expect(error?.explanation.contexts.isEmpty == false)
    let failed = context.explain(Whole.self)
    #expect("\(failed.cause)".hasPrefix("failed"), "\(failed)")
    #expect(failed.summary.contains("Part is asynchronous, and no instance is kept."), "\(failed)")
    // Written with `using:`, it is made; and that is forgotten.
    context.register(Whole.self, replaces: true, using: Whole.init(part:))
    _ = try await context.obtain(Whole.self)
    let found = context.explain(Whole.self)
    #expect("\(found.cause)".hasPrefix("found"), "\(found)")
  }

  @Test func aServiceForEachOfManyParts() async throws {
    let made = registerParts(250)
    context.register(Whole.self, lifetime: .context) { context in Whole(try await context.obtainAll(Part.self)) }
    #expect(try await context.obtain(Whole.self).parts.count == 250)
    #expect(made.count == 250)
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
    let make = { @Sendable (plain: Plain, one: Part, other: Part) in
      calls.add()
      return Whole(one: one, other: other)
    }
    context.register(Whole.self, lifetime: lifetime, using: make)
    let whole = try await context.obtain(Whole.self)
    #expect(synchronous.count == 1 && calls.count == 1)
    #expect(asynchronous.count == ([.weak, .context].contains(ofParts) ? 1 : 2) || ofParts == .graph)
    #expect((whole.parts[0] === whole.parts[1]) == (asynchronous.count == 1))
  }

  @Test func initialisersInsideOneAnother() async throws {
    let parts = Tally()
    context.register(Part.self, lifetime: .unique) { () async in
      parts.add()
      return Part()
    }
    context.register(Whole.self, named: "unused") { _ in Whole([]) }
    context.register(Made.self, lifetime: .unique, using: { (whole: Whole) in Made(parts: whole.parts) })
    context.register(Whole.self, lifetime: .unique, using: Whole.init(one:other:))
    context.register(
      Plain.self, lifetime: .unique, using: { (made: Made, part: Part) in Plain("\(made.parts.count + 1)") })
    #expect(try await context.obtain(Plain.self).label == "3")
    #expect(parts.count == 3)
  }

  /// What the graph has is not made again, and neither are its parameters.
  @Test func aGraphOfInitialisers() async throws {
    let parts = Tally()
    context.register(Part.self, lifetime: .unique) { () async in
      parts.add()
      return Part()
    }
    context.register(Whole.self, lifetime: .graph, using: Whole.init(part:))
    context.register(Made.self, lifetime: .unique, using: { (whole: Whole) in Made(parts: [whole]) })
    context.register(
      Plain.self, lifetime: .unique,
      using: { (made: Made, whole: Whole) in
        Plain(made.parts[0] as? Whole === whole ? "one" : "two")
      })
    #expect(try await context.obtain(Plain.self).label == "one" && parts.count == 1)
  }

  @Test func anOptionalParameter() async throws {
    context.register(Whole.self, lifetime: .unique, using: Whole.init(optional:))
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

  /// Looks an initialiser up each time it is asked, as any storage may.
  private final class Curious: UDIStorage {
    let context: UDIContext
    private let kept = Locked<UDIMade?>(nil)
    init(_ context: UDIContext) { self.context = context }
    func load() -> UDIMade? {
      _ = context.link(Plain.self)
      return kept.withLock { $0 }
    }
    func store(_ made: UDIMade) { kept.withLock { $0 = made } }
    func reset() { kept.withLock { $0 = nil } }
  }

  /// What has been obtained for an initialiser is for no other one.
  @Test func anotherInitialiserMeanwhile() async throws {
    let storage = Curious(UDIContext(tag: "other"))
    storage.context.provide("label")
    storage.context.register(Plain.self, lifetime: .unique, using: { (label: String) in Plain(label) })
    context.register(Part.self, lifetime: .context) { () async in Part() }
    context.register(
      Whole.self, lifetime: UDILifetime("curious", storage: .custom { storage }), using: Whole.init(part:))
    let whole = try await context.obtain(Whole.self)
    #expect(whole.parts.first === context.link(Part.self) && context.link(Whole.self) === whole)
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
    #expect(text.contains("write an asynchronous closure, and await `context.obtain()` in it"), "\(text)")
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
