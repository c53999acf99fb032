import Testing
import UDIInspector

@testable import UDI

private protocol Hidden: AnyObject, Sendable {}
private final class Secret: Hidden {
  final class Inner: Sendable {}
}
private struct Box<Content> {}

/// How messages spell types.
struct SpellingTests {
  @Test func aPrivateTypeIsSpelledWithoutAnAddress() {
    #expect(UDIKey<any Hidden>().description == "UDITests.(private).Hidden")
    #expect(UDIKey<any Hidden>(named: "a").description == #"UDITests.(private).Hidden named "a""#)
    #expect(UDIKey<Secret.Inner>().description == "UDITests.(private).Secret.Inner")
    #expect(
      UDIKey<Box<(Secret, Box<Int>)>>().description
        == "UDITests.(private).Box<(UDITests.(private).Secret, UDITests.(private).Box<Swift.Int>)>")
  }

  @Test func aLocalTypeIsSpelledWithoutAddresses() {
    #expect(LocalTypes.ofAMethod == "UDITests.(private).LocalTypes.(private).Local")
    #expect(ofAPrivateFunction == "UDITests.(private).Local")
  }

  @Test func allOtherTypesAreSpelledAsTheyAre() {
    typealias Function = ((Int, (String) -> Void)) -> (any Service)?
    for type in [Function.self, [(Int, Double)].self, Void.self, (any Service).self, (any Service & Sendable).self]
      as [Any.Type]
    {
      #expect(describeType(type) == String(reflecting: type))
    }
    for text in ["", "(", ")(", "A.(unknown context at $", "A.(unknown)", "(unknown context)"] {
      #expect(describeType(text) == text)
    }
  }

  @Test func theNameOfAKeyIsExact() {
    #expect(UDIKey<any Hidden>().typeName == String(reflecting: (any Hidden).self))
  }

  @Test func messagesContainNoAddress() throws {
    let context = UDIContext(tag: "App")
    let missing = try #require(throws: UDILinkError.self) { try context.require((any Hidden).self) }
    #expect(missing.description.hasPrefix("No UDITests.(private).Hidden is registered in this tree."))
    context.register(Secret.self, lifetime: .context) { Secret() }
    _ = context.link(Secret.self)
    let secret = Secret()
    context.bind(secret, as: (any Hidden).self)
    let texts = [
      missing.description, context.explain((any Hidden).self).description, context.snapshot().description,
      context.snapshot().mermaid(), context.explain(Secret.Inner.self, named: "a").description,
    ]
    for text in texts {
      #expect(!text.contains("unknown context"), "\(text)")
      #expect(text.contains("(private)"), "\(text)")
    }
    withExtendedLifetime(secret) {}
  }
}

private enum LocalTypes {
  static var ofAMethod: String {
    struct Local {}
    return UDIKey<Local>().description
  }
}

private var ofAPrivateFunction: String {
  struct Local {}
  return UDIKey<Local>().description
}
