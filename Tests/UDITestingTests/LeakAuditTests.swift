import Foundation
import Testing
import UDI
import UDITesting

struct LeakAuditTests {
  private let line = ViewModel.bindLine

  @Test("A view model with a closure that captures it is found, with its class, key, context and line")
  func leakingViewModel() throws {
    let found = try leaks {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      let model = ViewModel().attached(to: checkout)
      model.refreshLeaking()
      AppContext.removeChild(checkout)
    }
    #expect(found.count == 1)
    #expect(
      found.first?.description == """
        Still alive: the ViewModel that was registered as UDITestingTests.ViewModel in "App / Checkout", at \
        UDITestingTests/Fixtures.swift:\(line). So is that context. It is held: \
        ViewModel.action {captures} → ViewModel
        """)
    #expect(found.first?.registrations.first?.finding.line == line)
  }

  @Test("The mended one passes, with the trait", .leakAudit)
  func mendedViewModel() throws {
    let model = ViewModel().attached(to: try AppContext.makeChild(tag: "Checkout"))
    model.refresh()
    #expect(AppContext.link(ViewModel.self) === model)
  }

  @Test("As a call it fails the test, too")
  func callFails() async throws {
    let line = #line + 2
    let found = try await issues {
      expectNoLeaks { ViewModel().attached(to: AppContext).refreshLeaking() }
    }
    #expect(found.map(\.sourceLocation?.line) == [line])
    #expect(found.first?.text.contains("Fixtures.swift:\(self.line)") == true)
    synchronously {
      expectNoLeaks(ignoring: [ViewModel.self]) { ViewModel().attached(to: AppContext).refreshLeaking() }
    }
    await expectNoLeaks {
      await Task.yield()
      ViewModel().attached(to: AppContext).refresh()
    }
  }

  @Test("As a trait it fails the test")
  func traitFails() async throws {
    let test = try #require(Test.current)
    let found = try await issues {
      try await (.leakAudit as LeakAuditTrait).provideScope(for: test, testCase: nil) {
        ViewModel().attached(to: AppContext).refreshLeaking()
      }
    }
    #expect(found.map(\.sourceLocation?.line) == [test.sourceLocation.line])
    #expect(found.first?.text.contains("Fixtures.swift:\(line)") == true)
    try await (.leakAudit(ignoring: ViewModel.self) as LeakAuditTrait).provideScope(for: test, testCase: nil) {
      ViewModel().attached(to: AppContext).refreshLeaking()
    }
  }

  @Test("Found, too: what was bound in a context that is in no tree, on another thread, and what a context owned")
  func elsewhere() async {
    let outside = Locked<any AnyObject & Sendable>([])
    let found = await leaks {
      let basket = Basket().attached(to: UDIContext(tag: "alone"))
      outside.add(basket)
      let root = AppContext
      await Task.detached {
        let other = Basket(owner: 1).attached(to: root)
        outside.add(other)
      }.value
      root.register((any Clock).self, named: "owned", lifetime: .context) { TickingClock() }
      if let clock = root.link((any Clock).self, named: "owned") as? TickingClock { outside.add(clock) }
    }
    #expect(found.map(\.className) == ["Basket", "Basket"])
    #expect(found.map { $0.registrations[0].fullPath } == [["alone"], ["App"]])
    #expect(found.first?.isContextAlive == true)
    // The second one holds the context that it is attached to, and what the context owns.
    #expect(found.last?.held.map(\.className) == ["TickingClock"])
    #expect(found.last?.held.first?.registrations.first?.finding.name == "owned")
    withExtendedLifetime(outside) {}
  }

  @Test("The context in which an object was only bound is known to be alive, watched or not", .ownAppContext)
  func contextOfBinding() {
    let (clock, basket, other) = (TickingClock(), Basket(), UDIContext(tag: "other"))
    let found = leaks {
      AppContext.bind(clock, as: (any Clock).self)
      other.bind(basket, as: (any Cart).self)
    }
    #expect(found.map(\.isContextAlive) == [true, true])
    withExtendedLifetime((clock, basket, other)) {}
  }

  @Test("The audit itself keeps nothing alive, however busy the main actor is", .ownAppContext)
  func busyMainActor() {
    var bound: Basket? = Basket().attached(to: AppContext)
    weak var owned: TickingClock?
    AppContext.register((any Clock).self, lifetime: .context) { TickingClock() }
    owned = AppContext.link((any Clock).self) as? TickingClock
    whileMainActorIsBusy {
      expectNoLeaks {}
      #expect(bound != nil && owned != nil)
      bound = nil
      AppContext.unregister((any Clock).self)
      #expect(AppContext.link((any Cart).self) == nil && owned == nil)
    }
  }

  @Test("Not found: what dies with its context, what a task holds a moment longer, and what others bind meanwhile")
  func noLeaks() async {
    let other = UDIContext(tag: "other")
    let foreign = Basket()
    let ready = AsyncStream<Void>.makeStream()
    let binder = Task.detached {
      for await _ in ready.stream {
        foreign.attachedContext = other
        return
      }
    }
    let found = await leaks {
      AppContext.register((any Clock).self, lifetime: .context) { TickingClock() }
      _ = AppContext.link((any Clock).self)
      let basket = Basket().attached(to: AppContext)
      Task {
        for _ in 0..<50 { await Task.yield() }
        _ = basket.owner
      }
      ready.continuation.yield()
      await binder.value
    }
    #expect(found == [])
  }

  @Test("A context that somebody keeps is reported, values are not, and subclasses of what is ignored are ignored")
  func contexts() {
    let kept = Locked<UDIContext>([])
    let found = leaks {
      let context = UDIContext(tag: "kept")
      kept.add(context)
      context.provide(StoppedClock(), as: (any Clock).self)
      context.register((any Cart).self, lifetime: .context) { Basket() }
      _ = context.link((any Cart).self)
    }
    #expect(found.map(\.className) == ["UDIContext"])
    #expect(found.first?.held.map(\.className) == ["Basket"])
    #expect(found.first?.held.first?.isContextAlive == true)
    class Shared: @unchecked Sendable {}
    final class Special: Shared, @unchecked Sendable {}
    let special = Special()
    #expect(leaks(ignoring: [Shared.self]) { AppContext.bind(special, as: Special.self) } == [])
    #expect(leaks { AppContext.bind(special, as: Special.self) }.count == 1)
  }

  @Test("A context that lost its parent before the operation is known to be alive, whatever was registered in it")
  func contextsWithoutParent() throws {
    let outside = Locked<any AnyObject & Sendable>([])
    let child = try AppContext.makeChild(tag: "child")
    child.register((any Clock).self, lifetime: .context) { TickingClock() }
    AppContext.removeChild(child)
    let found = leaks {
      if let clock = child.link((any Clock).self) as? TickingClock { outside.add(clock) }
    }
    #expect(found.map(\.isContextAlive) == [true])
    withExtendedLifetime((outside, child)) {}
  }

  @Test("A thousand leaks are told in no time, and an override is none")
  func many() {
    let kept = Locked<Basket>([])
    let context = UDIContext(tag: "before")
    let before = Basket().attached(to: context)
    let found = leaks {
      withOverride(of: (any Cart).self, with: Basket(), in: context) {}
      for index in 0..<1000 {
        let basket = Basket(owner: index)
        kept.add(basket)
        AppContext.bind(basket, as: (any Cart).self, named: UDIName(index))
      }
    }
    #expect(found.count == 1000)
    withExtendedLifetime(before) {}
  }

  /// Holds another object, and more.
  private final class Knot: Known {
    var other: Knot?
    var leaves: [Leaf] = []
  }
  private final class Leaf: Known {}

  @Test("A cycle of two that hold 24 others is one leak, and those are counted under it")
  func oneCauseOneLeak() throws {
    let found = leaks {
      // Those that are held are known first.
      let leaves = (0..<24).map { _ in Leaf().attached(to: AppContext) }
      let (first, second) = (Knot().attached(to: AppContext), Knot().attached(to: AppContext))
      (first.other, second.other) = (second, first)
      (first.leaves, second.leaves) = (Array(leaves[..<12]), Array(leaves[12...]))
    }
    #expect(found.map(\.className) == ["Knot"])
    #expect(found.first?.trace == "Knot.other → Knot.other → Knot")
    #expect(found.first?.description.hasSuffix(" It keeps 25 other objects alive: 24 Leaf, 1 Knot.") == true)
  }

  @Test("What something alive holds comes first, and has an issue of its own", .ownAppContext)
  @MainActor func whatIsHeldComesFirst() throws {
    let holder = Knot()
    AppContext.bind(holder, as: Knot.self)
    let kept = Locked<Unchecked<Knot>>([])
    let found = leaks {
      let (leaf, unknown, held) = (Leaf().attached(to: AppContext), Knot().attached(to: AppContext), Knot())
      _ = held.attached(to: AppContext)
      kept.add(Unchecked(unknown))
      (unknown.leaves, unknown.other) = ([leaf], held)
      holder.other = held
    }
    #expect(found.map(\.className) == ["Knot", "Knot"])
    #expect(found.map(\.trace) == ["Knot.other → Knot", nil])
    #expect(found.first?.description.contains("It keeps") == false)
    #expect(found.last?.description.hasSuffix(" It keeps another object alive: 1 Leaf.") == true)
    holder.other = nil
    withExtendedLifetime(kept) {}
  }

  @Test("An object that is bound again and again is one leak with each key once")
  func onceEach() {
    let basket = Basket()
    let found = leaks {
      for _ in 0..<200 { basket.attachedContext = AppContext }
      for _ in 0..<500 { _ = Basket().attached(to: AppContext) }
    }
    #expect(found.count == 1 && found.first?.registrations.count == 1)
  }
}

#if DEBUG
  /// An object of the main actor.
  private final class Local {
    /// Marks the main actor's queue, because after `dispatchMain` the queue has no thread of its own.
    private static let mark: DispatchSpecificKey<Void> = {
      let mark = DispatchSpecificKey<Void>()
      DispatchQueue.main.setSpecific(key: mark, value: ())
      return mark
    }()
    private let death: AsyncStream<Bool>.Continuation
    init(_ death: AsyncStream<Bool>.Continuation) { self.death = death }
    deinit { death.yield(DispatchQueue.getSpecific(key: Self.mark) != nil) }
  }

  extension LeakAuditTests {
    @Test("An object that is not Sendable, and whose last reference the audit has for a moment, dies on the main actor")
    @MainActor func lastReference() async {
      let (stream, death) = AsyncStream<Bool>.makeStream()
      let found = await leaks {
        // Together with the context there are 64 subjects, so at the next one the audit checks which of them are alive.
        var locals = (0..<63).map { _ in Local(death) }
        for (index, local) in locals.enumerated() { AppContext.bind(local, as: Local.self, named: UDIName(index)) }
        let context = AppContext
        whenTheAuditLooks(during: { _ = Guest().attached(to: context) }) { locals = [] }
        for await wasOnMainActor in stream.prefix(63) { #expect(wasOnMainActor) }
      }
      #expect(found == [])
    }

    /// Runs a body on another thread. When the audit first checks there whether an object is alive, does something
    /// here.
    private func whenTheAuditLooks(during body: @escaping @Sendable () -> Void, _ act: () -> Void) {
      let (looks, acted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isDone = Locked<Bool>([])
      Thread.detachNewThread {
        Schedule.$hook.withValue({ point in
          guard point == .loadedToLook, isDone.all.isEmpty else { return }
          isDone.add(true)
          looks.signal()
          acted.wait()
        }) { body() }
        looks.signal()
      }
      looks.wait()
      act()
      acted.signal()
    }
  }
#endif
