import Synchronization
import Testing
import UDI

// The forms of `register` and `provide`, with everything that can be said after them. This file, like all files in this
// folder, is compiled in each kind of module that may use the library.

nonisolated private protocol Drink: AnyObject, Sendable {}

nonisolated private final class Leaves: Sendable {}

nonisolated private final class Tea: Drink {
  init() {}
  init(leaves: Leaves) {}
  init(steeping leaves: Leaves) async {}
  init(from pot: Pot) {}
  @MainActor init(pouringFrom pot: Pot) async {}
}

/// It is not `Sendable`.
nonisolated private class Pot {
  init() {}
  init(leaves: Leaves) {}
  init(warming leaves: Leaves) async {}
  @MainActor init(steeping leaves: Leaves) async {}
}

nonisolated private final class Tally: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func add() { count.add(1, ordering: .sequentiallyConsistent) }
}

@Suite nonisolated struct EveryFormTests {
  private let context = UDIContext(tag: "App")
  private let created = Tally()
  private let closed = Tally()
  private let running = Tally()

  /// Says everything that can be said after a registration.
  private func complete<Made: Sendable>(_ registration: UDIRegistration<Made>) {
    registration
      .onCreate { [created] _, _ in created.add() }
      .onClose { [closed] _ in closed.add() }
      .running(mayEnd: true) { [running] _ in running.add() }
      .metadata("a note")
  }

  @MainActor private func completeOnMainActor<Made>(_ registration: UDIRegistration<Made>) {
    registration
      .onCreate { [created] _, _ in created.add() }
      .onClose { [closed] _ in closed.add() }
      .running(mayEnd: true) { [running] _ in running.add() }
      .metadata("a note")
  }

  /// Closes the context, and checks that each closure was called once for each instance.
  private func check(count: Int) async throws {
    #expect(created.value == count)
    try await context.close()
    #expect(closed.value == count && running.value == count)
  }

  @Test func ofASendableTypeAnywhere() async throws {
    complete(context.provide(Leaves()))
    complete(context.register((any Drink).self, named: 1) { Tea() })
    complete(context.register((any Drink).self, named: 2) { context in try Tea(leaves: context.require()) })
    complete(context.register((any Drink).self, named: 3) { () async in Tea() })
    complete(context.register((any Drink).self, named: 4) { context in try await Tea(steeping: context.require()) })
    #if swift(>=6) || MAIN_ACTOR_BY_DEFAULT
      complete(context.register((any Drink).self, named: 5, using: Tea.init(leaves:)))
      complete(context.register((any Drink).self, named: 6, using: Tea.init(steeping:)))
    #else
      // Here, initialisers are not `Sendable`, unless the upcoming feature "InferSendableFromCaptures" is on.
      complete(context.register((any Drink).self, named: 5) { context in try Tea(leaves: context.require()) })
      complete(context.register((any Drink).self, named: 6) { context in try await Tea(steeping: context.require()) })
    #endif
    complete(context.register(Tea.self, named: 7) { Tea() }.implements((any Drink).self, named: 7))
    complete(context.register(lifetime: .context) { (_, count: Int) in Tea() })
    complete(context.register(named: "async", lifetime: .context) { (_, count: Int) async in Tea() })
    for name in 1...7 { _ = try await context.obtain((any Drink).self, named: UDIName(name)) }
    _ = try await context.obtain(Tea.self, with: 5)
    _ = try await context.obtain(Tea.self, named: "async", with: 5)
    try await check(count: 10)
  }

  @Test @MainActor func ofATypeThatIsNotSendableOnTheMainActor() async throws {
    completeOnMainActor(context.provide(Leaves()))
    completeOnMainActor(context.provide(Pot(), named: 0))
    completeOnMainActor(context.register(Pot.self) { Pot() })
    completeOnMainActor(context.register(Pot.self, named: 2) { context in try Pot(leaves: context.require()) })
    completeOnMainActor(context.register(Pot.self, named: 3) { () async in Pot() })
    completeOnMainActor(context.register(named: 4) { context in try await Pot(warming: context.require()) })
    completeOnMainActor(context.register(Pot.self, named: 5, using: Pot.init(leaves:)))
    completeOnMainActor(context.register(named: 6, lifetime: .context) { (_, count: Int) in Pot() })
    completeOnMainActor(context.register(named: 7, lifetime: .context) { (_, count: Int) async in Pot() })
    // A `Sendable` type, made from one that is not.
    completeOnMainActor(context.register((any Drink).self, using: Tea.init(from:)))
    #if swift(>=6) || MAIN_ACTOR_BY_DEFAULT
      completeOnMainActor(context.register(Pot.self, named: 8, using: Pot.init(steeping:)))
      completeOnMainActor(context.register((any Drink).self, named: 9, using: Tea.init(pouringFrom:)))
    #else
      completeOnMainActor(context.register(named: 8) { context in try await Pot(steeping: context.require()) })
      completeOnMainActor(
        context.register((any Drink).self, named: 9) { context in try await Tea(pouringFrom: context.require()) })
    #endif
    _ = try context.require(Pot.self)
    for name in [2, 3, 4, 5, 8] { _ = try await context.obtain(Pot.self, named: UDIName(name)) }
    for name in 6...7 { _ = try await context.obtain(Pot.self, named: UDIName(name), with: 5) }
    _ = try await context.obtain((any Drink).self)
    _ = try await context.obtain((any Drink).self, named: 9)
    try await check(count: 12)
  }
}
