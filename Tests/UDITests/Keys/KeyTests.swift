import Foundation
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

/// Has the same name as a type of the standard library.
private final class Set: Shelf.Thing {}

/// Is not `Sendable`.
private protocol Errand: AnyObject {}
private final class Shopping: Errand {}

// Keys that are declared once, next to what they stand for.
extension UDIKey<any Service> {
  fileprivate static var service: Self { Self() }
  fileprivate static var backup: Self { Self(named: "backup") }
}

extension UDIKey<any Errand> {
  fileprivate static var errand: Self { Self() }
}

@Suite struct KeyTests {
  @Test func aKeyThatIsDeclaredOnceIsFoundByItsNameInCode() throws {
    let context = UDIContext(tag: "context")
    let member = Member().attached(to: context)
    let service = Plain()
    context.bind(service, as: (any Service).self)
    context.register((any Service).self, named: "backup", lifetime: .context) { Plain("backup") }
    #expect(context.link(.service) === service && member.linkInLine(.service) === service)
    #expect(try context.require(.service) === service && member.require(.service) === service)
    #expect(try context.require(.service, search: .local) === service)
    let backup = try context.require(.backup)
    #expect(backup !== service && member.linkInLine(.backup, search: .local) === backup)
    #expect(context.unregister(.backup) && context.link(.backup) == nil)
    #expect(throws: UDILinkError.self) { try member.require(.backup) }
  }

  @MainActor @Test func aKeyOfATypeThatIsNotSendable() throws {
    let context = UDIContext(tag: "context")
    let member = Member().attached(to: context)
    let errand = Shopping()
    context.bind(errand, as: (any Errand).self)
    #expect(context.link(.errand) === errand && member.linkInLine(.errand) === errand)
    #expect(try context.require(.errand) === errand && member.require(.errand) === errand)
  }

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
    #expect(types.allSatisfy { TypeIdentity.of($0).text == String(reflecting: $0) })
  }

  /// The runtime gives the same text in less time.
  @Test func theNameOfATypeIsWhatStringReflectingSays() {
    struct Local<Value> {}
    let types: [Any.Type] = unsafe [
      Local<Int>.self, Local<Local<[String: Int?]>>.self, Shelf.self,
      (any Service).self, (any Service & Other).self, (any Service & Sendable).self, (any Sequence<Int>).self,
      (any Service).Type.self, (any Service.Type).self, Any.self, AnyObject.self, Any.Type.self, Never.self, Void.self,
      (Int, named: String).self, ((Int) -> String).self, ((inout Int, Int) throws -> Void).self,
      (@Sendable @MainActor (Int) async throws -> Void).self, (@convention(c) (Int) -> Void).self,
      Array<(any Service)?>.self, ClosedRange<String.Index>.self, UnsafeMutablePointer<Int>.self,
      KeyPath<String, Int>.self,
      Result<Int, any Error>.self, WeakValueDictionary<String, any Service>.Iterator.self,
    ]
    for type in types { #expect(TypeIdentity.of(type).text == String(reflecting: type)) }
  }

  /// Only such a type is told apart by its metatype alone.
  @Test func aTypeWithATextOfItsOwnSharesItWithNoOther() {
    typealias Plain = (() -> Void) -> Void
    typealias Escaping = (@escaping () -> Void) -> Void
    let protocols: [Any.Type] = [
      (any First).self, (any Second).self, (any First & Second).self, (any First & AnyObject).self, Any.self,
      AnyObject.self, (any Error).self, (any Bound).self, (any Bound & First).self,
    ]
    #expect(protocols.allSatisfy { TypeMetadata($0).hasTextOfItsOwn })
    #expect(Swift.Set(protocols.map { String(reflecting: $0) }).count == protocols.count)
    let others: [Any.Type] = [
      Plain.self, Escaping.self, Int.self, Shelf.self, (any First)?.self, (any First.Type).self, (any First).Type.self,
      (any Sequence<Int>).self, (any Box<Plain> & First).self, (any Box<Escaping> & First).self,
    ]
    #expect(others.allSatisfy { !TypeMetadata($0).hasTextOfItsOwn })
    // Two types with one text are one dependency.
    #expect(TypeIdentity.of(Plain.self) === TypeIdentity.of(Escaping.self))
    #expect(TypeIdentity.of((any Box<Plain> & First).self) === TypeIdentity.of((any Box<Escaping> & First).self))
  }

  @Test func whichTypesHoldReferences() {
    let references: [Any.Type] = [
      Object.self, Box<Int>.self, AnyObject.self, (any Bound).self, (any Bound & First).self,
      (any Object & First).self, (any First & AnyObject).self, KeyPath<String, Int>.self,
    ]
    #expect(references.allSatisfy { TypeMetadata($0).holdsReferences })
    let others: [Any.Type] = [
      (any First).self, Any.self, (any Error).self, Int.self, Object?.self, (any Bound)?.self, Object.Type.self,
      (any Bound).Type.self, (() -> Void).self, (Object, Int).self, (any Sequence<Int>).self,
      // A form has room for the reference and two more words.
      (any Bound & First & Second).self, (any Object & Bound & First & Second).self,
    ]
    #expect(others.allSatisfy { !TypeMetadata($0).holdsReferences })
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
    #expect(UDIName("a").description == "a")
    #expect(UDIName([1, 2]) == UDIName([1, 2]))
    #expect(UDIName(1) != UDIName(1.0) && UDIName(1) != UDIName(UInt8(1)))
    #expect(
      UDIName("two\nlines").description == #"two\u{000A}lines"#
        || UDIName("two\nlines").description == #"two\nlines"#)
    #expect(UDIName("a").hashValue == ("a" as UDIName).hashValue)
  }

  @Test func anInterpolatedTextIsANameLikeAnyOther() {
    let (number, text) = (7, "tab 7")
    #expect("tab \(number)" as UDIName == "tab 7" && "tab \(number)" as UDIName == UDIName(text))
    #expect(("tab \(number)" as UDIName).hashValue == UDIName(text).hashValue)
    #expect("\(number)" as UDIName != 7)
    let (context, service) = (UDIContext(tag: "context"), Plain())
    context.bind(service, as: (any Service).self, named: "tab \(number)")
    #expect(context.link((any Service).self, named: "tab 7") === service)
    #expect(context.link((any Service).self, named: UDIName(text)) === service)
    #expect(context.link((any Service).self, named: "tab \(number + 1)") == nil)
  }

  /// NaN is not equal to itself, but a name made of it equals another such name.
  @Test func aNameOfWhatIsNotEqualToItself() throws {
    let context = UDIContext(tag: "context")
    let (first, second) = (Plain(), Plain())
    let name = UDIName(Double.nan)
    let (copy, other) = (name, UDIName(Double.nan))
    try #require(name == copy && name != other)
    for _ in 0..<4000 { context.bind(first, as: (any Service).self, named: name) }
    for _ in 0..<4000 { context.multiBind(first, as: (any Service).self, named: copy) }
    #expect(boundHere(context).count == 1)
    context.bind(second, as: (any Service).self, named: other)
    #expect(context.link((any Service).self, named: copy) === first)
    #expect(context.link((any Service).self, named: other) === second)
    #expect(context.linkAll((any Service).self).count == 2)
    context.unbind((any Service).self, named: copy)
    #expect(context.link((any Service).self, named: name) == nil)
    context.unbind((any Service).self, named: other)
    #expect(boundHere(context).isEmpty)
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

  /// A name with the same hash as all other names of its type.
  struct Clash: Hashable, Sendable {
    let value: Int
    init(_ value: Int) { self.value = value }
    func hash(into hasher: inout Hasher) {}
  }

  /// Names with equal hashes are still distinguished, and found in every direction.
  @Test func collidingNames() throws {
    let root = UDIContext(tag: "root")
    let middle = try root.makeChild(tag: "middle")
    let leaf = try middle.makeChild(tag: "leaf")
    let (above, member, below) = (
      Member().attached(to: root), Member().attached(to: middle), Member().attached(to: leaf)
    )
    let services = (0..<6).map { Plain("\($0)") }
    let names = services.indices.map { UDIName(Clash($0)) }
    for (name, service) in zip(names, services) { middle.bind(service, as: (any Service).self, named: name) }
    root.bind(services[5], as: (any Other).self, named: names[5])
    func expectAll(but missing: Int? = nil, _ comment: Comment) {
      for (index, name) in names.enumerated() {
        let expected = index == missing ? nil : services[index]
        for context in [root, middle] { #expect(context.link((any Service).self, named: name) === expected, comment) }
        for object in [above, member] {
          #expect(object.linkInLine((any Service).self, named: name) === expected, comment)
          #expect((try? object.require((any Service).self, named: name)) === expected, comment)
        }
        #expect(below.linkInLine((any Service).self, named: name, search: .ancestors) === expected, comment)
        #expect(leaf.link((any Service).self, named: name, search: .ancestors) === expected, comment)
        #expect(middle.link((any Service).self, named: name, search: .local) === expected, comment)
        let all = root.linkAll((any Service).self, named: name)
        #expect(all.count == (expected == nil ? 0 : 1) && all.allSatisfy { $0 === expected }, comment)
      }
      for context in [root, middle] {
        #expect(context.link((any Service).self, named: UDIName(Clash(99))) == nil, comment)
      }
      #expect(member.linkInLine((any Service).self, named: UDIName(Clash(99))) == nil, comment)
      #expect(leaf.link((any Service).self, named: UDIName(Clash(99)), search: .ancestors) == nil, comment)
      #expect(leaf.link((any Other).self, named: names[5], search: .ancestors) === services[5], comment)
      #expect(root.linkAll((any Service).self).count == (missing == nil ? 6 : 5), comment)
    }
    expectAll("bound")
    // The name that came first, whose id is its hash, goes, and comes back while the others are still there.
    for index in [0, 3] {
      middle.unbind((any Service).self, named: names[index])
      expectAll(but: index, "without \(index)")
      middle.bind(services[index], as: (any Service).self, named: names[index])
      expectAll("with \(index) again")
    }
    // From a context that itself has another name with that hash.
    leaf.multiBind(services[0], as: (any Service).self, named: UDIName(Clash(100)))
    #expect(leaf.link((any Service).self, named: names[4], search: .ancestors) === services[4])
    #expect(leaf.link((any Service).self, named: names[4]) === services[4])
    #expect(leaf.link((any Service).self, named: names[4], search: .descendants) == nil)
    #expect(below.linkInLine((any Service).self, named: names[4]) === services[4])
    #expect(below.linkInLine((any Service).self, named: names[4], search: .descendants) == nil)
  }

  @Test func collidingNamesAreFollowed() async throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let (first, second) = (Plain("first"), Plain("second"))
    child.bind(first, as: (any Service).self, named: UDIName(Clash(1)))
    var updates = root.updates(of: (any Service).self, named: UDIName(Clash(2))).makeAsyncIterator()
    #expect(try await #require(updates.next()) == nil)
    child.bind(second, as: (any Service).self, named: UDIName(Clash(2)))
    #expect(try await #require(updates.next()) === second)
    child.unbind((any Service).self, named: UDIName(Clash(1)))
    child.unbind((any Service).self, named: UDIName(Clash(2)))
    #expect(try await #require(updates.next()) == nil)
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
    let member = Member().attached(to: context)
    #expect(member.linkInLine((any Service).self, named: UDIName(Curious(context: context))) === service)
  }

  /// Whether two names are the same does not hang on how they were made, nor on what a lookup can tell of them under a lock.
  @Test(
    arguments: [
      ("x", "x"), ("a text that is too long for one word or two", "a text that is too long for one word or two"),
      ("na\u{EF}ve", "nai\u{308}ve"), (UDIName(7), 7), (UDIName([1, 2]), UDIName([1, 2])),
    ] as [(UDIName, UDIName)])
  func aNameIsFoundByAnotherLikeIt(_ name: UDIName, _ other: UDIName) throws {
    let root = UDIContext(tag: "root")
    let leaf = try root.makeChild(tag: "leaf")
    let (member, below) = (Member().attached(to: root), Member().attached(to: leaf))
    let service = Plain()
    root.bind(service, as: (any Service).self, named: name)
    for same in [name, other] {
      let key = UDIKey<any Service>(named: same)
      for context in [root, leaf] {
        #expect(context.link((any Service).self, named: same) === service && context.link(key) === service)
      }
      for object in [member, below] {
        #expect(object.linkInLine((any Service).self, named: same) === service && object.linkInLine(key) === service)
      }
      #expect(root.link((any Other).self, named: same) == nil, "another type")
      #expect(leaf.link((any Service).self, named: same, search: .descendants) == nil)
    }
  }

  /// The id of a key with a name is a hash of the type, too: two types may have the same one.
  @Test func twoTypesWithTheSameHash() {
    let (type, other) = (TypeToken.of((any Service).self), TypeToken.of((any Other).self))
    let name: UDIName = "x"
    let key = KeyIdentity.of(.of((any Service).self), name)
    #expect(key.isSurely(type.id, name) && !key.isSurely(other.id, name) && !key.isSurely(type.id, "y"))
  }

  /// Interned names go with the last binding that uses them.
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

  /// A binding may hold the last reference to a name, and the name's `deinit` may use the library: no lock is held
  /// then.
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
      // Bound again, withdrawn, moved, and found dead.
      for value in [0, 0, 1, 2] { context.bind(service, as: (any Service).self, named: name(value)) }
      context.unbind((any Service).self, named: name(0))
      other.bind(service, as: (any Service).self, named: name(1))
      #expect(context.link((any Service).self, named: name(1)) == nil)
      for value in 3..<100 { context.bind(Plain(), as: (any Service).self, named: name(value)) }
      #expect(context.link((any Service).self, named: name(50)) == nil)
      UDIContext.makeInert().bind(service, as: (any Service).self, named: name(100))
      let before = alive.load(ordering: .relaxed)
      #expect(before > 0, "what is bound keeps its name")
    }
    // Another test's leak audit may briefly hold a binding while it checks the binding.
    var tries = 0
    while alive.load(ordering: .relaxed) > 0, tries < 1_000_000 {
      sched_yield()
      tries += 1
    }
    let after = alive.load(ordering: .relaxed)
    #expect(after == 0)
  }

  /// Even if the only other binding with the name goes while the names are compared, and the context takes none.
  @Test func aRefusedNameUsesTheLibrary() {
    let elsewhere = UDIContext(tag: "elsewhere")
    let service = Plain()
    let isDead = Atomic<Bool>(false)
    let holder = Locked<UDIContext?>(UDIContext(tag: "holder"))
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
    UDIContext.makeInert().bind(service, as: (any Service).self, named: UDIName(sly))
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

private protocol First {}
private protocol Second {}
private protocol Bound: AnyObject {}
private class Box<Content> {}
private class Object {}
