import Testing
import UDI

private class Base: @unchecked Sendable {  // Unchecked: nothing in it changes.
  let number = 1
  required init() {}
}
private final class Derived: Base, @unchecked Sendable {
  let other = 2
}
/// The same for classes that are not `Sendable`.
private class Slack {}
private final class Taut: Slack {
  let other = 2
}

/// If a variable gives the class, what is registered as that class must be an instance of it, although the compiler
/// only sees the superclass.
@Suite struct MetatypeTests {
  private let type: Base.Type = Derived.self
  let context = UDIContext(tag: "context")

  @Test func whatIsOfTheClassIsFound() {
    let (bound, type) = (type.init(), type)
    context.bind(bound, as: type)
    #expect(context.link(Derived.self) === bound && context.link(Derived.self)?.other == 2)
    context.unbind(Derived.self)
    context.register(type) { type.init() }
    #expect(context.link(Derived.self)?.other == 2)
    context.register(type, lifetime: .context) { type.init() }
    #expect(context.link(Derived.self)?.other == 2 && context.link(Derived.self) === context.link(Derived.self))
    context.provide(bound, as: type)
    #expect(context.link(Derived.self) === bound)
  }

  @Test func onlyTheClassInTheVariableIsUnregistered() {
    context.register(Base.self) { Base() }
    context.register(type) { [type] in type.init() }
    #expect(context.unregister(type))
    #expect(context.registrations(of: Derived.self).isEmpty)
    #expect(context.registrations(of: Base.self).count == 1)
    #expect(!context.unregister(type))
  }

  @Test func theClassInTheVariableIsFollowed() async throws {
    let (base, derived) = (Base(), type.init())
    context.bind(base, as: Base.self)
    var updates = context.updates(of: type).makeAsyncIterator()
    #expect(await updates.next().map { $0 == nil } == true)
    context.bind(derived, as: type)
    #expect(await updates.next()?.map { $0 === derived } == true)
    #expect(try await context.linkWhenAvailable(type) === derived)
    let awaited = try await context.whileAvailable(type) { $0 }
    #expect(awaited === derived)
    let both = try await context.whileAvailable(Base.self, type) { [$0, $1] }
    #expect(both.map(ObjectIdentifier.init) == [ObjectIdentifier(base), ObjectIdentifier(derived)])
  }

  @Test func linkWhenAvailableWaitsForTheClassInTheVariable() async throws {
    let derived = type.init()
    context.bind(Base(), as: Base.self)
    async let found = context.linkWhenAvailable(type)
    await Task.yield()
    context.bind(derived, as: type)
    #expect(try await found === derived)
  }

  @Test func aKeyOfAnotherClassStopsTheProgram() async {
    let made = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let type: Base.Type = Derived.self
      _ = UDIKey(type)
    }
    let output = String(decoding: made?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("name the class itself"))
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context])
  func anotherInstanceOfAFactoryIsRefused(_ lifetime: UDILifetime) {
    context.register(type, lifetime: lifetime) { Base() }
    let error = #expect(throws: UDILinkError.self) { try context.require(Derived.self) }
    #expect(error?.cause == .notConvertible(from: String(reflecting: Base.self)))
    #expect(MisuseLog.during { context.link(Derived.self) == nil }.0)
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context])
  func anotherInstanceOfAFactoryWithArgumentsIsRefused(_ lifetime: UDILifetime) {
    let type = type
    context.register(type, lifetime: lifetime) { (_, isOther: Bool) in isOther ? Base() : type.init() }
    let error = #expect(throws: UDILinkError.self) { try context.require(Derived.self, with: true) }
    #expect(error?.cause == .notConvertible(from: String(reflecting: Base.self)))
    #expect(MisuseLog.during { context.link(Derived.self, with: true) == nil }.0)
    #expect(context.link(Derived.self, with: false)?.other == 2)
  }

  @Test func anInstanceServesOnlyItsOwnClass() {
    let type = type
    context.register(Base.self) { Base() }.implements(type)
    let error = #expect(throws: UDILinkError.self) { try context.require(Derived.self) }
    #expect(error?.cause == .notConvertible(from: String(reflecting: Base.self)))
    #expect(MisuseLog.during { context.link(Derived.self) == nil }.0)
    context.register(Base.self) { type.init() }.implements(type)
    #expect(context.link(Derived.self)?.other == 2)
  }

  @Test func aConversionServesOnlyItsOwnClass() {
    let type = type
    context.register(Int.self) { 1 }.implements(type) { _ in Base() }
    let error = #expect(throws: UDILinkError.self) { try context.require(Derived.self) }
    #expect(error?.cause == .notConvertible(from: "Swift.Int"))
    #expect(MisuseLog.during { context.link(Derived.self) == nil }.0)
    context.register(Int.self, lifetime: .context) { 1 }.implements(type) { _ in Derived() }
    #expect(context.link(Derived.self)?.other == 2 && context.link(Derived.self) === context.link(Derived.self))
  }

  @MainActor @Test func onTheMainActorTooAnInstanceServesOnlyItsOwnClass() {
    let type: Slack.Type = Taut.self
    context.register(Slack.self) { Slack() }.implements(type)
    #expect(MisuseLog.during { context.link(Taut.self) == nil }.0)
    context.register(Slack.self) { Slack() }.implements(type) { $0 }
    #expect(MisuseLog.during { context.link(Taut.self) == nil }.0)
    context.register(Slack.self) { Taut() }.implements(type) { $0 }
    #expect(context.link(Taut.self)?.other == 2)
  }

  @Test func anotherInstanceStopsTheProgram() async {
    let bound = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let type: Base.Type = Derived.self
      UDIContext(tag: "x").bind(Base(), as: type)
    }
    let output = String(decoding: bound?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("but is not an instance of it."))
    await #expect(processExitsWith: .failure) {
      let type: Base.Type = Derived.self
      UDIContext(tag: "x").provide(Base(), as: type)
    }
  }
}
