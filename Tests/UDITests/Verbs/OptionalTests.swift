import Testing
import UDI

/// Code that uses an optional by mistake, and was compiled despite the warning, behaves as before: the optional is a
/// type like any other. `.ci/refused` checks the warnings.
@Suite struct OptionalTests {
  let context = UDIContext(tag: "context")

  @Test func anOptionalIsFoundAsWhatItWasProvidedAs() throws {
    let mistakes: any Mistaken = Mistakes(context: context)
    #expect(try mistakes.provide() == context.registrations(of: Int?.self).first?.line)
    #expect(context.link(Int.self) == nil)
    #expect(try mistakes.require(on: context) == 7 && mistakes.require(on: Member().attached(to: context)) == 7)
    context.unregister(Int?.self)
    #expect(throws: UDILinkError.self) { try mistakes.require(on: context) }
  }

  @Test @MainActor func onTheMainActorAsWell() throws {
    let mistakes: any MainActorMistaken = MainActorMistakes(context: context)
    let souvenir = Souvenir()
    #expect(mistakes.provide(souvenir) == context.registrations(of: Souvenir?.self).first?.line)
    #expect(context.link(Souvenir.self) == nil)
    #expect(try mistakes.require(on: context) === souvenir)
    #expect(try mistakes.require(on: Member().attached(to: context)) === souvenir)
  }

  @Test func theNameOfAnOptional() throws {
    let mistakes: any Mistaken = Mistakes(context: context)
    #expect(try mistakes.name("a") == mistakes.name("a") && mistakes.name("a") != "a" && mistakes.name(nil) != "nil")
  }
}

private final class Souvenir {}

// A deprecated function gives no warning if it is called through a protocol requirement.

private protocol Mistaken {
  func provide() throws -> Int
  func require(on context: UDIContext) throws -> Int?
  func require(on object: Member) throws -> Int?
  func name(_ text: String?) throws -> UDIName
}

private struct Mistakes: Mistaken {
  let context: UDIContext

  @available(*, deprecated)
  func provide() -> Int { context.provide(Optional(7)).line }
  @available(*, deprecated)
  func require(on context: UDIContext) throws -> Int? { try context.require(Int?.self) }
  @available(*, deprecated)
  func require(on object: Member) throws -> Int? { try object.require(Int?.self) }
  @available(*, deprecated)
  func name(_ text: String?) -> UDIName { UDIName(text) }
}

@MainActor private protocol MainActorMistaken {
  func provide(_ souvenir: Souvenir?) -> Int
  func require(on context: UDIContext) throws -> Souvenir?
  func require(on object: Member) throws -> Souvenir?
}

private struct MainActorMistakes: MainActorMistaken {
  let context: UDIContext

  @available(*, deprecated)
  func provide(_ souvenir: Souvenir?) -> Int { context.provide(souvenir).line }
  @available(*, deprecated)
  func require(on context: UDIContext) throws -> Souvenir? { try context.require(Souvenir?.self) }
  @available(*, deprecated)
  func require(on object: Member) throws -> Souvenir? { try object.require(Souvenir?.self) }
}
