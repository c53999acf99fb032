import Testing
import UDI

@Suite struct BindTests {
  @Test func aBoundObjectIsFoundWhileItIsHeld() {
    let context = UDIContext(tag: "context")
    var service: Plain? = Plain()
    context.bind(service!, as: (any Service).self)
    #expect(context.link((any Service).self) === service)
    service = nil
    #expect(context.link((any Service).self) == nil)
  }

  @Test func bindingDoesNotHold() {
    let context = UDIContext(tag: "context")
    weak var observed: Plain?
    do {
      let service = Plain()
      observed = service
      context.bind(service, as: (any Service).self)
      context.multiBind(service, as: (any Other).self)
    }
    #expect(observed == nil)
  }

  @Test func laterBindReplaces() {
    let context = UDIContext(tag: "context")
    let (first, second) = (Plain("first"), Plain("second"))
    context.bind(first, as: (any Service).self)
    context.bind(second, as: (any Service).self)
    #expect(context.link((any Service).self) === second)
    #expect(boundHere(context) == ["UDITests.Service: Plain"])
  }

  @Test(arguments: [false, true])
  func bindMoves(isMember: Bool) throws {
    let root = UDIContext(tag: "root")
    let (a, b) = (try root.makeChild(tag: "a"), UDIContext(tag: "in a tree of its own"))
    let service: any Service & Other = isMember ? Member() : Plain()
    a.bind(service, as: (any Service).self)
    a.bind(service, as: (any Other).self)
    b.bind(service, as: (any Service).self)
    #expect(boundHere(a).count == 1, "the first context no longer holds it")
    #expect(a.link((any Service).self) == nil)
    #expect(root.link((any Service).self) == nil)
    #expect(b.link((any Service).self) === service)
    #expect(a.link((any Other).self) === service, "under another key it stays")
    b.bind(service, as: (any Service).self)
    #expect(b.link((any Service).self) === service)
    #expect(boundHere(b).count == 1)
  }

  @Test func bindMovesOnlyTheSameInstanceUnderTheSameName() {
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let (one, two) = (Plain("one"), Plain("two"))
    a.bind(one, as: (any Service).self, named: "x")
    b.bind(two, as: (any Service).self, named: "x")
    b.bind(one, as: (any Service).self, named: "y")
    #expect(a.link((any Service).self, named: "x") === one)
    #expect(b.link((any Service).self, named: "x") === two)
    #expect(b.link((any Service).self, named: "y") === one)
  }

  @Test func bindWithdrawsWhatMultiBindAdded() {
    let contexts = (0..<3).map { UDIContext(tag: "\($0)") }
    let service = Plain()
    for context in contexts { context.multiBind(service, as: (any Service).self) }
    #expect(contexts.allSatisfy { $0.link((any Service).self) === service })
    contexts[1].bind(service, as: (any Service).self)
    #expect(contexts.map { $0.link((any Service).self) != nil } == [false, true, false])
  }

  @Test func aContextBindsInTheGivenContexts() {
    let contexts = (0..<3).map { UDIContext(tag: "\($0)") }
    let service = Plain()
    contexts[0].multiBind(service, as: (any Service).self, in: Array(contexts[1...]))
    #expect(contexts.map { $0.link((any Service).self) === service } == [false, true, true])
    #expect(contexts[1].unbind((any Service).self))
    #expect(contexts.map { $0.link((any Service).self) === service } == [false, false, true])
  }

  @Test func unbindOfAContext() throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let (above, below) = (Plain("above"), Plain("below"))
    root.bind(above, as: (any Service).self)
    child.bind(below, as: (any Service).self)
    #expect(root.unbind((any Service).self))
    #expect(root.link((any Service).self) === below, "only what is bound in this very context goes")
    #expect(!root.unbind((any Service).self))
    #expect(!child.unbind((any Service).self, named: "none"))
    #expect(child.unbind((any Service).self))
    #expect(root.link((any Service).self) == nil)
  }

  @Test func anyTypeOfReferenceCanBeBound() {
    let context = UDIContext(tag: "context")
    let plain = Plain("plain")
    context.bind(plain, as: Plain.self)
    context.bind(plain, as: (any Service).self)
    context.bind(plain, as: (any Loose).self)
    context.bind(plain, as: (any Sendable).self)
    context.bind(plain, as: (any AnyObject & Sendable).self)
    context.bind(plain, as: (any Service & Other).self)
    context.bind(plain, as: (any Service & Other & Loose).self)
    context.bind(plain, as: (any Loose & CustomStringConvertible & CustomDebugStringConvertible & Service).self)
    #expect(context.link(Plain.self) === plain)
    #expect(context.link((any Service).self) === plain)
    #expect(context.link((any Loose).self)?.label == "plain")
    #expect(context.link((any Sendable).self) as? Plain === plain)
    #expect(context.link((any AnyObject & Sendable).self) === plain)
    #expect(context.link((any Service & Other).self) === plain)
    #expect(context.link((any Service & Other & Loose).self)?.label == "plain")
    let many = context.link((any Loose & CustomStringConvertible & CustomDebugStringConvertible & Service).self)
    #expect(many?.debugDescription == "plain!" && many?.description == "plain")
    #expect(context.linkAll((any Service & Other & Loose).self).map(\.label) == ["plain"])
  }

  /// `any Error` boxes its value, whether it is a class or not, so the words of a stored `any Error` are not those of a
  /// reference.
  @Test func classesThatAreErrors() {
    final class Trouble: Error, Sendable { let code = 7 }
    let context = UDIContext(tag: "context")
    var trouble: Trouble? = Trouble()
    context.bind(trouble! as any Error, as: (any Error).self)
    #expect((context.link((any Error).self) as? Trouble)?.code == 7)
    #expect(context.linkAll((any Error).self).count == 1)
    trouble = nil
    #expect(context.link((any Error).self) == nil)
  }

  /// Two types with the same string are one dependency. What was stored as one type must be cast to be read as the
  /// other.
  @Test func typesThatReadTheSame() throws {
    final class Box<Content>: Sendable, Loose { let label = "box" }
    typealias Escaping = Box<(@escaping () -> Void) -> Void>
    typealias Plain = Box<(() -> Void) -> Void>
    try #require(ObjectIdentifier(Escaping.self) != ObjectIdentifier(Plain.self))
    try #require(String(reflecting: Escaping.self) == String(reflecting: Plain.self))
    let context = UDIContext(tag: "context")
    let (escaping, plain) = (Escaping(), Plain())
    context.bind(plain, as: Plain.self)
    #expect(context.link(Plain.self) === plain)
    #expect(context.link(Escaping.self) == nil, "found, but not of that type")
    context.bind(escaping, as: Escaping.self)
    #expect(context.link(Escaping.self) === escaping)
    #expect(context.link(Plain.self) == nil)
    #expect(context.linkAll(Escaping.self).count == 1)
    #expect(context.linkAll(Plain.self).isEmpty)
  }

  @Test func bindingAValueStopsWithAnExplanation() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      UDIContext(tag: "context").bind(ValueType(), as: (any Loose).self)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("UDITests.ValueType was bound as UDITests.Loose, but it is a value type"))
    #expect(text.contains("register a provider"))
  }

  @Test func bindingAnOptionalOrAWrappedReferenceStops() async {
    await #expect(processExitsWith: .failure) {
      UDIContext(tag: "context").bind(Plain(), as: Plain?.self)
    }
    await #expect(processExitsWith: .failure) {
      let context = UDIContext(tag: "context")
      context.bind(Wrapper(reference: Plain()), as: Wrapper.self)
    }
  }

  @Test func manyKeysInOneContext() {
    let context = UDIContext(tag: "context")
    let services = (0..<1000).map { Plain("\($0)") }
    for (index, service) in services.enumerated() {
      context.bind(service, as: (any Service).self, named: UDIName(index))
    }
    #expect(services.indices.allSatisfy { context.link((any Service).self, named: UDIName($0)) === services[$0] })
    #expect(context.linkAll((any Service).self).map { ($0 as? Plain)?.label } == services.map(\.label))
    for index in stride(from: 0, to: 1000, by: 2) { context.unbind((any Service).self, named: UDIName(index)) }
    for index in services.indices {
      let found = context.link((any Service).self, named: UDIName(index))
      #expect(index.isMultiple(of: 2) ? found == nil : found === services[index])
    }
  }
}

extension Plain: CustomStringConvertible, CustomDebugStringConvertible {
  var description: String { label }
  var debugDescription: String { label + "!" }
}

struct ValueType: Loose { let label = "value" }

/// A value whose only word is a reference. In memory it looks like a reference, but it is none.
struct Wrapper: Sendable { let reference: Plain }
