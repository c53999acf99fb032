import Testing
import UDI

private protocol Hidden: Sendable {}

/// The hint that the dependency is registered under another type, in cases where only a provider can tell.
struct TypeConformanceTests {
  protocol Sending: Sendable {}
  protocol Receiving: AnyObject, Sendable {}
  protocol Holding<Element>: Sendable { associatedtype Element }

  class Manager: Sending, Receiving, @unchecked Sendable {}
  final class SpecialManager: Manager, @unchecked Sendable {}
  final class Sealed: Sending, Hidden {}
  struct Message: Sending {}
  enum Signal: Sending { case on }
  struct Box<Element: Sendable>: Sending, Holding {}
  final class Crate<Element: Sendable>: Sending {}
  actor Desk: Receiving {}

  let root = UDIContext(tag: "App")
  let file = #fileID

  /// Whether an explanation of one type mentions a provider of the other type, without making anything.
  private func hints<Registered: Sendable, Wanted: Sendable>(_ registered: Registered.Type, _ wanted: Wanted.Type)
    -> Bool
  {
    let context = UDIContext(tag: "App")
    context.register(registered) { () -> Registered? in
      Issue.record("an explanation makes nothing")
      return nil
    }
    guard case .otherType(let place) = context.explain(wanted).cause else { return false }
    return place.finding.kind == .provider && place.finding.typeName == String(reflecting: registered)
  }

  @Test("A provider of the class, asked for by the protocol: what it says, and that what it advises helps")
  func text() {
    let line = #line + 1
    let registration = root.register(Manager.self) { Manager() }
    let explanation = root.explain((any Sending).self)
    #expect(
      firstLine(of: explanation) == """
        No UDITests.TypeConformanceTests.Sending is registered in "App" and below, but there is one in "App": the \
        provider (context) registered as UDITests.TypeConformanceTests.Manager at \(file):\(line).
        """)
    #expect(
      explanation.advice == """
        Look up UDITests.TypeConformanceTests.Manager; or register it as UDITests.TypeConformanceTests.Sending, or add `.implements` for \
        UDITests.TypeConformanceTests.Sending to its registration: a dependency is found under exactly the types that it was registered under.
        """)
    let error = #expect(throws: UDILinkError.self) { try root.require((any Sending).self) }
    #expect(error?.cause == explanation.cause)
    registration.implements((any Sending).self)
    #expect(root.link((any Sending).self) is Manager)
  }

  @Test("A provider of the protocol, asked for by the class: what it says, and that what it advises helps")
  func concreteType() {
    let line = #line + 1
    let registration = root.register((any Sending).self, lifetime: .unique) { Manager() }
    let explanation = root.explain(Manager.self)
    #expect(
      firstLine(of: explanation) == """
        No UDITests.TypeConformanceTests.Manager is registered in "App" and below, but there may be one in "App", \
        because a UDITests.TypeConformanceTests.Manager is a UDITests.TypeConformanceTests.Sending: the provider \
        (unique) registered as UDITests.TypeConformanceTests.Sending at \(file):\(line).
        """)
    #expect(explanation.advice?.hasPrefix("Look up UDITests.TypeConformanceTests.Sending; or ") == true)
    registration.implements(Manager.self)
    #expect(root.link(Manager.self) != nil)
    // The provider makes something else.
    #expect(root.explain(Sealed.self).summary.contains("there may be one"))
    root.register((any Sending).self, lifetime: .context, replaces: true) { Manager() }
    _ = root.link((any Sending).self)
    #expect(root.explain(Sealed.self).cause == .notRegistered)
    // Every object is an `AnyObject`.
    root.register((any AnyObject & Sendable).self) { Plain() }
    #expect(root.explain(Crate<Int>.self).cause == .notRegistered)
    // What is registered elsewhere under the type itself comes first.
    root.register((any Receiving).self) { Manager() }
    let scope = try? root.makeScope(tag: "scope")
    scope?.register(Desk.self) { Desk() }
    #expect(root.explain(Desk.self).summary.contains("is in the scope"))
  }

  @Test("Classes, values and generic types, and what they conform to")
  func types() {
    #expect(hints(Manager.self, (any Sending).self) && hints(Manager.self, (any Receiving).self))
    #expect(hints(SpecialManager.self, (any Sending).self) && hints(SpecialManager.self, Manager.self))
    #expect(!hints(Manager.self, SpecialManager.self) && !hints(Sealed.self, Manager.self))
    #expect(hints(Sealed.self, (any Sending).self) && !hints(Sealed.self, (any Receiving).self))
    #expect(hints(Message.self, (any Sending).self) && !hints(Message.self, (any Receiving).self))
    #expect(hints(Signal.self, (any Sending).self) && hints(Desk.self, (any Receiving).self))
    #expect(hints(Box<Int>.self, (any Sending).self) && hints(Box<Message>.self, (any Holding).self))
    #expect(hints(Crate<String>.self, (any Sending).self) && !hints(Crate<String>.self, Crate<Int>.self))
    #expect(hints(CancellationError.self, (any Error).self) && !hints(Message.self, (any Error).self))
    #expect(!hints(Int.self, String.self) && !hints(Message.self, String?.self))
    // An optional is wanted by mistake.
    #expect(hints(Message.self, Message?.self) && hints(Message.self, (any Sending)?.self))
  }

  @Test("Compositions")
  func compositions() {
    #expect(hints(Manager.self, (any Sending & Receiving).self))
    #expect(!hints(Message.self, (any Sending & Receiving).self) && !hints(Sealed.self, (any Sending & Receiving).self))
    #expect(
      hints(SpecialManager.self, (any Manager & Sending).self) && !hints(Sealed.self, (any Manager & Sending).self))
    #expect(hints(Message.self, (any Sending & Sendable).self))
  }

  @Test("Where the runtime cannot tell there is no hint")
  func unknown() {
    #expect(!hints(Sealed.self, (any Hidden).self))
    #expect(!hints(Box<Int>.self, (any Holding<Int>).self))
    // The factory decides what it makes, and nobody has asked it yet.
    #expect(!hints((any Receiving).self, (any Sending).self))
  }

  @Test("With arguments, kept as a value, and kept as an object that says more than its type")
  func otherProviders() {
    root.register(Message.self, lifetime: .context) { (_, _: Int) in Message() }
    guard case .otherType = root.explain((any Sending).self).cause else {
      Issue.record("its provider takes arguments")
      return
    }
    root.provide(Signal.on)
    root.unregister(Message.self)
    guard case .otherType(let place) = root.explain((any Sending).self).cause else {
      Issue.record("a value is kept")
      return
    }
    #expect(place.finding.kind == .kept && place.finding.className == "Signal")
    #expect(
      root.explain((any Sending).self).summary.hasSuffix(
        "but there is one in \"App\": Signal, kept by the provider (context) registered as UDITests.TypeConformanceTests.Signal at \(file):\(place.finding.line)."
      ))
    #expect(root.explain((any Sending).self).advice?.contains("add `.implements`") == true)
    root.unregister(Signal.self)
    let manager: any Receiving = Manager()
    root.provide(manager, as: (any Receiving).self)
    guard case .otherType = root.explain((any Sending).self).cause else {
      Issue.record("the object is one")
      return
    }
    // There is also a binding, which comes first.
    let desk = Desk()
    root.bind(desk, as: (any Receiving).self)
    #expect(root.explain((any Sending).self).cause == .notRegistered)
    withExtendedLifetime(desk) {}
  }
}
