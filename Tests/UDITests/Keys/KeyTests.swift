import Synchronization
import Testing

@testable import UDI

private enum Shelf {
  protocol Thing: AnyObject, Sendable {}
  final class Item<Content>: Thing {}
}

private enum Cellar {
  final class Item<Content>: Shelf.Thing {}
}

/// The same name as a type of the standard library.
private final class Set: Shelf.Thing {}

@Suite struct KeyTests {
  @Test func keysAreTypeAndName() {
    #expect(UDIKey<any Shelf.Thing>() == UDIKey((any Shelf.Thing).self))
    #expect(UDIKey<Plain>(named: "a") == UDIKey<Plain>(named: "a"))
    #expect(UDIKey<Plain>(named: "a") != UDIKey<Plain>())
    #expect(UDIKey<Plain>(named: "a").hashValue == UDIKey<Plain>(named: "a").hashValue)
    #expect(UDIKey<Plain>().typeName == "UDITests.Plain")
    #expect(UDIKey<Plain>(named: "a").description == #"UDITests.Plain named "a""#)
    #expect(UDIKey<Plain>().description == "UDITests.Plain")
  }

  @Test func nestedGenericPrivateAndLikeNamedTypesAreToldApart() {
    func shadow() -> (Any.Type, any Shelf.Thing) {
      final class Item<Content>: Shelf.Thing {}
      return (Item<Int>.self, Item<Int>())
    }
    let context = UDIContext(tag: "context")
    let (ints, strings, cellar) = (Shelf.Item<Int>(), Shelf.Item<String>(), Cellar.Item<Int>())
    context.bind(ints, as: Shelf.Item<Int>.self)
    #expect(context.link(Shelf.Item<String>.self) == nil)
    #expect(context.link(Cellar.Item<Int>.self) == nil)
    context.bind(strings, as: Shelf.Item<String>.self)
    context.bind(cellar, as: Cellar.Item<Int>.self)
    #expect(context.link(Shelf.Item<Int>.self) === ints)
    #expect(context.link(Shelf.Item<String>.self) === strings)
    #expect(context.link(Cellar.Item<Int>.self) === cellar)
    let types: [Any.Type] = [
      Shelf.Item<Int>.self, Shelf.Item<String>.self, Cellar.Item<Int>.self, Set.self, Swift.Set<Int>.self, shadow().0,
      Plain.self, Plain.Type.self, Plain?.self, [Plain].self,
    ]
    #expect(Swift.Set(types.map { TypeIdentity.of($0).id }).count == types.count)
    #expect(types.allSatisfy { TypeIdentity.of($0).name == String(reflecting: $0) })
  }

  @Test func aTypeIsInternedOnce() async {
    let identities = await withTaskGroup { group in
      for _ in 0..<64 { group.addTask { TypeIdentity.of([[[Plain]]].self) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(identities.allSatisfy { $0 === identities[0] })
  }

  /// More types than the first table of metatypes has room for.
  @Test func manyTypes() {
    func nest<Content>(_ type: Content.Type, _ depth: Int, _ ids: inout [UInt64]) {
      ids.append(TypeIdentity.of(type).id)
      if depth > 0 { nest(Shelf.Item<Content>.self, depth - 1, &ids) }
    }
    var (first, second): ([UInt64], [UInt64]) = ([], [])
    nest(Int8.self, 300, &first)
    nest(Int8.self, 300, &second)
    #expect(first == second)
    #expect(Swift.Set(first).count == 301)
  }

  @Test func namesCompareByTypeAndValue() {
    #expect(UDIName("a") == "a")
    #expect(UDIName(1) == 1)
    #expect(UDIName(1) != "1")
    #expect(UDIName(Int8(1)).description == "1")
    #expect(UDIName("a").description == "\"a\"")
    #expect(UDIName([1, 2]) == UDIName([1, 2]))
    #expect(UDIName(1) != UDIName(1.0) && UDIName(1) != UDIName(UInt8(1)))
    #expect(
      UDIName("two\nlines").description == #""two\u{000A}lines""#
        || UDIName("two\nlines").description == #""two\nlines""#)
    #expect(UDIName("a").hashValue == ("a" as UDIName).hashValue)
  }

  @Test @MainActor func aNameIsTheSameHoweverItIsMade() {
    func make<Value: Hashable>(_ value: Value) -> UDIName { UDIName(value) }
    #expect(make("x") == "x")
    #expect(make(1) == 1)
  }

  @Test func anyTextIsAName() {
    let context = UDIContext(tag: "context")
    let names = ["", " ", "naïve", "e\u{301}", "\0", String(repeating: "x", count: 1 << 20)].map { UDIName($0) }
    let services = names.map { _ in Plain() }
    for (name, service) in zip(names, services) { context.bind(service, as: (any Service).self, named: name) }
    for (name, service) in zip(names, services) { #expect(context.link((any Service).self, named: name) === service) }
  }

  /// Names that all hash alike are still told apart, and found in every direction.
  @Test func collidingNames() throws {
    struct Clash: Hashable, Sendable {
      let value: Int
      func hash(into hasher: inout Hasher) {}
    }
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let services = (0..<6).map { Plain("\($0)") }
    for (index, service) in services.enumerated() {
      child.bind(service, as: (any Service).self, named: UDIName(Clash(value: index)))
    }
    root.bind(services[5], as: (any Other).self, named: UDIName(Clash(value: 5)))
    for (index, service) in services.enumerated() {
      #expect(root.link((any Service).self, named: UDIName(Clash(value: index))) === service)
    }
    #expect(root.link((any Service).self, named: UDIName(Clash(value: 99))) == nil)
    #expect(child.link((any Other).self, named: UDIName(Clash(value: 5)), search: .ancestors) === services[5])
    // The name that came first goes, and comes back while the others are still there.
    child.unbind((any Service).self, named: UDIName(Clash(value: 0)))
    #expect(root.link((any Service).self, named: UDIName(Clash(value: 0))) == nil)
    child.bind(services[0], as: (any Service).self, named: UDIName(Clash(value: 0)))
    #expect(root.link((any Service).self, named: UDIName(Clash(value: 0))) === services[0])
    #expect(root.linkAll((any Service).self).count == 6)
  }

  /// A name is user code: its comparison may use the library, because no lock is held.
  @Test func aNameThatUsesTheLibrary() {
    struct Curious: Hashable, Sendable {
      let context: UDIContext
      static func == (left: Curious, right: Curious) -> Bool {
        _ = left.context.link((any Service).self)
        left.context.unbind((any Other).self)
        return true
      }
      func hash(into hasher: inout Hasher) { _ = context.children }
    }
    let context = UDIContext(tag: "context")
    let service = Plain()
    context.bind(service, as: (any Service).self, named: UDIName(Curious(context: context)))
    #expect(context.link((any Service).self, named: UDIName(Curious(context: context))) === service)
  }

  /// Interned names go with the last binding that has them.
  @Test func namesLeaveNothingBehind() {
    final class Token: Hashable, Sendable {
      static func == (left: Token, right: Token) -> Bool { left === right }
      func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
    let context = UDIContext(tag: "context")
    let service = Plain()
    weak var observed: Token?
    do {
      let token = Token()
      observed = token
      context.bind(service, as: (any Service).self, named: UDIName(token))
      _ = context.linkAll((any Service).self)
    }
    #expect(observed != nil, "the binding keeps its name")
    let before = TypeIdentity.of((any Service).self).namedKeys.load(ordering: .relaxed)
    context.bind(service, as: (any Other).self)
    #expect(before > 0)
    context.linkAll((any Service).self).forEach { _ in context.unbind((any Service).self, named: UDIName(observed!)) }
    #expect(observed == nil)
  }

  /// The last reference to a name may be a binding's, and the name's `deinit` may use the library: no lock is held then.
  @Test func aDyingNameUsesTheLibrary() {
    let elsewhere = UDIContext(tag: "elsewhere")
    let service = Plain()
    let alive = Atomic<Int>(0)
    func name(_ value: Int) -> UDIName {
      alive.add(1, ordering: .relaxed)
      return UDIName(
        Sly(
          value,
          onDeath: {
            alive.subtract(1, ordering: .relaxed)
            elsewhere.bind(service, as: (any Other).self)
          }))
    }
    do {
      let (context, other) = (UDIContext(tag: "context"), UDIContext(tag: "other"))
      // Bound again, taken back, moved, dead and found so.
      for value in [0, 0, 1, 2] { context.bind(service, as: (any Service).self, named: name(value)) }
      context.unbind((any Service).self, named: name(0))
      other.bind(service, as: (any Service).self, named: name(1))
      #expect(context.link((any Service).self, named: name(1)) == nil)
      for value in 3..<100 { context.bind(Plain(), as: (any Service).self, named: name(value)) }
      #expect(context.link((any Service).self, named: name(50)) == nil)
      UDIContext.inert.bind(service, as: (any Service).self, named: name(100))
      let before = alive.load(ordering: .relaxed)
      #expect(before > 0, "what is bound keeps its name")
    }
    let after = alive.load(ordering: .relaxed)
    #expect(after == 0)
  }

  /// Even where the only other binding with the name goes while the names are compared, and the context takes none.
  @Test func aRefusedNameUsesTheLibrary() {
    let elsewhere = UDIContext(tag: "elsewhere")
    let service = Plain()
    let isDead = Atomic<Bool>(false)
    let holder = Mutex<UDIContext?>(UDIContext(tag: "holder"))
    holder.withLock { $0 }?.bind(
      service, as: (any Service).self,
      named: UDIName(
        Sly(
          1,
          onDeath: {
            isDead.store(true, ordering: .relaxed)
            elsewhere.bind(service, as: (any Other).self)
          })))
    let sly = Sly(1, onComparison: { _ = holder.withLock { $0.take() } })
    UDIContext.inert.bind(service, as: (any Service).self, named: UDIName(sly))
    let hasDied = isDead.load(ordering: .relaxed)
    #expect(hasDied)
  }
}

/// A name that does something when it is compared, and when it dies.
private final class Sly: Hashable, Sendable {
  private let value: Int
  private let onComparison: @Sendable () -> Void
  private let onDeath: @Sendable () -> Void

  init(_ value: Int, onComparison: @escaping @Sendable () -> Void = {}, onDeath: @escaping @Sendable () -> Void = {}) {
    self.value = value
    self.onComparison = onComparison
    self.onDeath = onDeath
  }

  deinit { onDeath() }

  static func == (left: Sly, right: Sly) -> Bool {
    left.onComparison()
    right.onComparison()
    return left.value == right.value
  }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
