import Synchronization
import Testing

// Which attachments are strangers, and whose owners they note.
@testable import UDI

private protocol Part: AnyObject, Sendable {}

// The classes are generic, so that each test has classes of its own, about which the library knows nothing yet.

private final class Ordinary<Tag>: Part {}

private class Base<Tag>: UDIObject, Part, @unchecked Sendable {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}

private final class Derived<Tag>: Base<Tag>, @unchecked Sendable {}

/// Has its attachment in another object.
private final class Forwarding<Tag>: UDIObject, Part {
  private let base = Base<Tag>()
  var _attachedContext: UDIAttachment { base._attachedContext }
  func didAttachContext() {}
}

private actor Agent<Tag>: UDIObject, Part {
  let _attachedContext = UDIAttachment()
  nonisolated func didAttachContext() {}
}

@MainActor private final class Screen<Tag>: @MainActor UDIObject, Part {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}

// The tags.

private enum Unique {}
private enum Graph {}
private enum Weak {}
private enum Context {}
private enum Own {}
private enum Provided {}
private enum Early {}
private enum Attached {}
private enum Async {}

private func check(_ condition: Bool, _ what: Any) {
  if !condition { fatalError("\(what)") }
}

/// Checks that what a factory makes, or returns, is attached to the context that the factory was given.
private func checkThatItIsAttached(
  _ lifetime: UDILifetime = .context, _ make: @escaping @Sendable () -> any Part & UDIObject
) {
  let context = UDIContext(tag: "factory")
  context.register((any Part).self, lifetime: lifetime) { make() as any Part }
  let made = context.link((any Part).self)
  check((made as? any UDIObject)?.attachedContext === context, "\(String(describing: made)), \(lifetime)")
}

/// Does so for all kinds of classes, and checks that a value and a plain object can be made, too.
private func checkAllKinds<Tag>(_ tag: Tag.Type, _ lifetime: UDILifetime) async {
  checkThatItIsAttached(lifetime) { Forwarding<Tag>() }
  checkThatItIsAttached(lifetime) { Derived<Tag>() }
  checkThatItIsAttached(lifetime) { Base<Tag>() }
  checkThatItIsAttached(lifetime) { Agent<Tag>() }
  await MainActor.run {
    let context = UDIContext(tag: "main actor")
    context.register(Screen<Tag>.self, lifetime: lifetime) { Screen<Tag>() }
    let made = context.link(Screen<Tag>.self)
    check(made?.attachedContext === context, "Screen, \(lifetime)")
  }
  let context = UDIContext(tag: "plain")
  context.register((any Part).self, lifetime: lifetime) { Ordinary<Tag>() }
  check(context.link((any Part).self) is Ordinary<Tag>, "Ordinary, \(lifetime)")
  if lifetime == .weak { return }
  context.register(Int.self, lifetime: lifetime) { 1 }
  context.register(UDISearch.self, lifetime: lifetime) { .local }
  check(context.link(Int.self) == 1 && context.link(UDISearch.self) == .local, "a value, \(lifetime)")
}

private func checkAllLifetimes() async {
  await checkAllKinds(Unique.self, .unique)
  await checkAllKinds(Graph.self, .graph)
  await checkAllKinds(Weak.self, .weak)
  await checkAllKinds(Context.self, .context)
  await checkAllKinds(Own.self, UDILifetime("own"))
}

/// Whether the runtime was asked whether the class is a `UDIObject`'s.
private func wasAsked(_ type: Any.Type) -> Bool {
  TypeToken.find(type)?.identity.read { $0.isPlain.load(ordering: .relaxed) } ?? false
}

/// A made object that takes part in the tree is attached, even though the library asks the runtime about as few classes
/// as possible. The tests need processes of their own, in which no other object is a stranger.
@Suite struct MembershipTests {
  @Test func everyKindOfObjectIsAttachedUnderEveryLifetime() async {
    await #expect(processExitsWith: .success) {
      await checkAllLifetimes()
      check(!wasAsked(Ordinary<Unique>.self), "asked, although there is no stranger")
      check(UDIAttachment.strangers.load(ordering: .relaxed) == 0, "a stranger is left")
    }
  }

  @Test func strangersChangeNothing() async {
    await #expect(processExitsWith: .success) {
      let stranger = Base<Never>()
      await checkAllLifetimes()
      check(wasAsked(Ordinary<Unique>.self), "not asked, although there is a stranger")
      withExtendedLifetime(stranger) { check(UDIAttachment.strangers.load(ordering: .relaxed) == 1, "not counted") }
    }
  }

  @Test func anObjectFromOutsideIsAttached() async {
    await #expect(processExitsWith: .success) {
      let early = Derived<Early>()
      // A factory that makes an object of a different class, and one that returns the early one.
      checkThatItIsAttached { Base<Context>() }
      checkThatItIsAttached { early }
      let context = UDIContext(tag: "provided")
      let provided = Forwarding<Provided>()
      context.provide(provided as any Part, as: (any Part).self)
      check(provided.attachedContext === context, "provided")
      let elsewhere = await Task.detached { Agent<Early>() }.value
      checkThatItIsAttached { elsewhere }
    }
  }

  @Test func anObjectThatIsAttachedAlreadyDoesNotHoldItsOwner() async {
    await #expect(processExitsWith: .success) {
      weak var gone: UDIContext?
      do {
        let context = UDIContext(tag: "owner")
        gone = context
        context.register((any Part).self, lifetime: .context) { context in Base<Attached>().attached(to: context) }
        check(context.link((any Part).self) != nil, "not made")
      }
      check(gone == nil, "held")
    }
  }

  @Test func anAsynchronousFactoryMayChangeThreads() async {
    await #expect(processExitsWith: .success) {
      let context = UDIContext(tag: "asynchronous")
      context.register((any Part).self, lifetime: .context) { _ async -> (any Part)? in
        let made = Derived<Async>()
        await MainActor.run {}
        await Task.yield()
        return made
      }
      let made = try? await context.obtain((any Part).self)
      check((made as? Base<Async>)?.attachedContext === context, "not attached")
    }
  }

  /// What an object looks up before it is attached makes its class known.
  @Test func anObjectThatUsesTheAppContextIsNoStranger() async {
    await #expect(processExitsWith: .success) {
      let user = Base<Early>()
      _ = user.linkInLine((any Part).self)
      check(UDIAttachment.strangers.load(ordering: .relaxed) == 0, "a stranger")
      checkThatItIsAttached { user }
      let binder = Derived<Early>()
      AppContext.bind(binder, as: (any Part).self)
      let other = Derived<Early>()
      binder.attachedContext = nil
      checkThatItIsAttached { binder }
      checkThatItIsAttached { other }
    }
  }
}
