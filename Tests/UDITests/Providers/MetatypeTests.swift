import Testing
import UDI

private class Base: @unchecked Sendable {  // Unchecked: nothing in it changes.
  let number = 1
  required init() {}
}
private final class Derived: Base, @unchecked Sendable {
  let other = 2
}

/// What is registered as a type must be of the type. If a variable gives a class, the compiler knows only its
/// superclass, so a verb that registers something stops the program. A lookup takes the class in the variable.
@Suite struct MetatypeTests {
  private let type: Base.Type = Derived.self
  let context = UDIContext(tag: "context")

  @Test func onlyTheClassInTheVariableIsUnregistered() {
    context.register(Base.self) { Base() }
    context.register(Derived.self) { Derived() }
    #expect(context.unregister(type))
    #expect(context.registrations(of: Derived.self).isEmpty)
    #expect(context.registrations(of: Base.self).count == 1)
    #expect(!context.unregister(type))
  }

  @Test func theClassInTheVariableIsFollowed() async throws {
    let (base, derived) = (Base(), Derived())
    context.bind(base, as: Base.self)
    var updates = context.updates(of: type).makeAsyncIterator()
    #expect(await updates.next().map { $0 == nil } == true)
    context.bind(derived, as: Derived.self)
    #expect(await updates.next()?.map { $0 === derived } == true)
    #expect(context.link(type) === derived)
    #expect(try await context.linkWhenAvailable(type) === derived)
    let awaited = try await context.whileAvailable(type) { $0 }
    #expect(awaited === derived)
    let both = try await context.whileAvailable(Base.self, type) { [$0, $1] }
    #expect(both.map(ObjectIdentifier.init) == [ObjectIdentifier(base), ObjectIdentifier(derived)])
  }

  @Test func theClassInTheVariableIsObtained() async throws {
    context.register(Base.self, lifetime: .context) { Base() }
    context.register(Derived.self, lifetime: .context) { () async in Derived() }
    try await context.warmUp(type)
    let derived = try #require(context.link(Derived.self))
    #expect(try await context.obtain(type) === derived)
    #expect(try await context.obtainAll(type).map(ObjectIdentifier.init) == [ObjectIdentifier(derived)])
    try await context.warmUp(Base.self, type)
    #expect(context.link(Base.self) != nil)
  }

  @Test func linkWhenAvailableWaitsForTheClassInTheVariable() async throws {
    let derived = Derived()
    context.bind(Base(), as: Base.self)
    async let found = context.linkWhenAvailable(type)
    await Task.yield()
    context.bind(derived, as: Derived.self)
    #expect(try await found === derived)
  }

  @Test(arguments: [
    "key", "bind", "multiBind", "bind on an object", "provide", "register", "with arguments", "asynchronous",
    "implements",
  ])
  func aClassInAVariableStopsTheProgram(_ verb: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [verb] in
      let (type, context): (Base.Type, _) = (Derived.self, UDIContext(tag: "context"))
      switch verb {
      case "key": _ = UDIKey(type)
      case "bind": context.bind(Derived(), as: type)
      case "multiBind": context.multiBind(Derived(), as: type)
      case "bind on an object": Member().attached(to: context).bind(Derived(), as: type)
      case "provide": context.provide(Derived(), as: type)
      case "register": context.register(type) { Derived() }
      case "with arguments": context.register(type) { (_, _: Int) in Derived() }
      case "asynchronous": context.register(type) { () async in Derived() }
      default: context.register(Derived.self) { Derived() }.implements(type)
      }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("write the type itself, `Derived.self`"))
  }
}
