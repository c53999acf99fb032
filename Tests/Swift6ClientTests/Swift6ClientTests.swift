/// Each kind of class that can take part, in a module in the Swift 6 language mode. Half of the test is that this
/// compiles.
import Testing
import UDI

protocol Greeter: Sendable {
  func greet() -> String
}

/// A `Sendable` final class: works anywhere.
final class Host: UDIObject, Greeter {
  let _attachedContext = UDIAttachment()

  func didAttachContext() {
    bind(self, as: (any Greeter).self)
  }

  func greet() -> String { "welcome" }
}

/// A plain class, with state and without isolation, that links something `Sendable`.
class Guest: UDIObject {
  let _attachedContext = UDIAttachment()
  var greeter: (any Greeter)?
  var other: (any Greeter)?
  var visits = 0

  func didAttachContext() {
    visits += 1
    link(\.greeter)
    link(&other)
  }
}

/// A subclass has its own hook, and cannot forget the `override`.
class LoyalGuest: Guest {
  override func didAttachContext() {
    super.didAttachContext()
    visits += 10
  }
}

/// A protocol that asks nothing of its conformers, with mutable state.
protocol Counter: AnyObject {
  var count: Int { get set }
}

/// A main-actor class with a plain protocol.
@MainActor
class Till: @MainActor UDIObject, @MainActor Counter {
  let _attachedContext = UDIAttachment()
  var count = 0
  var sibling: (any Counter)?
  var greeter: (any Greeter)?

  func didAttachContext() {
    bind(self, as: (any Counter).self)
    link(\.sibling)
    link(\.greeter)
  }
}

protocol Kitchen: Actor {
  func cook() -> String
}

/// An actor.
actor Chef: UDIObject, Kitchen {
  let _attachedContext = UDIAttachment()
  var greeter: (any Greeter)?

  nonisolated func didAttachContext() {
    bind(self, as: (any Kitchen).self)
  }

  func cook() -> String {
    link(&greeter)
    return greeter.map { "\($0.greet()), dinner is ready" } ?? "dinner is ready"
  }
}

/// Made by asynchronous initialisers.
final class Waiter: Greeter {
  init(chef: any Kitchen) async throws { _ = await chef.cook() }
  func greet() -> String { "good evening" }
}
actor Cook: Kitchen {
  init(till: (any Greeter)?) async {}
  func cook() -> String { "soup" }
}
@MainActor final class Drawer {
  let counter: any Counter
  init(counter: any Counter) async { self.counter = counter }
}

@Suite struct Swift6Client {
  @Test func asynchronousInitialisers() async throws {
    let context = UDIContext(tag: "house")
    context.register((any Kitchen).self, using: Cook.init(till:))
    context.register((any Greeter).self, named: "late", using: Waiter.init(chef:))
    #expect(try await context.obtain((any Greeter).self, named: "late").greet() == "good evening")
  }

  @Test @MainActor func asynchronousInitialisersOnTheMainActor() async throws {
    let context = UDIContext(tag: "house")
    context.register((any Counter).self) { Till() }
    context.register(lifetime: .context, using: Drawer.init)
    #expect(try await context.obtain(Drawer.self).counter.count == 0)
  }

  @Test func sendableFinalClass() throws {
    let context = UDIContext(tag: "house")
    let host = Host().attached(to: context)
    #expect(try context.require((any Greeter).self) as AnyObject === host)
    #expect(host.linkInLine((any Greeter).self)?.greet() == "welcome")
  }

  @Test func plainClass() {
    let context = UDIContext(tag: "house")
    let host = Host().attached(to: context)
    let guest = Guest().attached(to: context)
    #expect(guest.greeter as AnyObject? === host)
    #expect(guest.other as AnyObject? === host)
    #expect(LoyalGuest().attached(to: context).visits == 11)
  }

  @Test @MainActor func mainActorClass() {
    let context = UDIContext(tag: "house")
    let host = Host().attached(to: context)
    let till = Till().attached(to: context)
    #expect(till.sibling as AnyObject? === till)
    #expect(till.greeter as AnyObject? === host)
    till.linkInLine((any Counter).self)?.count += 1
    #expect(context.link((any Counter).self)?.count == 1)
    #expect(context.linkAll((any Counter).self).count == 1)
    till.sibling = nil
  }

  @Test func actorClass() async {
    let context = UDIContext(tag: "house")
    let host = Host().attached(to: context)
    let chef = Chef().attached(to: context)
    #expect(await chef.cook() == "welcome, dinner is ready")
    #expect(await context.link((any Kitchen).self)?.cook() == "welcome, dinner is ready")
    withExtendedLifetime(host) {}
  }

  /// A dependency can be looked up from any thread if its type allows that.
  @Test func sendableFromAnywhere() async {
    let context = UDIContext(tag: "house")
    let host = Host().attached(to: context)
    let greeting = await Task.detached { context.link((any Greeter).self)?.greet() }.value
    #expect(greeting == "welcome")
    withExtendedLifetime(host) {}
  }
}
