import Foundation
import Synchronization
import Testing

@testable import UDI

private enum Shelf {
  protocol Thing: AnyObject, Sendable {}
  final class Item<Content>: Thing {}
}

private enum Cellar {
  enum Tab { case home }
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
  @MainActor fileprivate static var errand: Self { Self() }
}

@Suite struct KeyTests {
  @Test func aKeyThatIsDeclaredOnceIsFoundByItsNameInCode() throws {
    let context = UDIContext(tag: "context")
    let member = Member().attached(to: context)
    let service = Plain()
    context.bind(service, as: (any Service).self)
    context.register((any Service).self, named: "backup", lifetime: .context) { Plain("backup") }
    #expect(context.link(.service) === service && member.link(.service) === service)
    #expect(try context.require(.service) === service && member.require(.service) === service)
    #expect(try context.require(.service, search: .local) === service)
    let backup = try context.require(.backup)
    #expect(backup !== service && member.link(.backup, search: .local) === backup)
    #expect(context.unregister(.backup) && context.link(.backup) == nil)
    #expect(throws: UDILinkError.self) { try member.require(.backup) }
  }

  @MainActor @Test func aKeyOfATypeThatIsNotSendable() throws {
    let context = UDIContext(tag: "context")
    let member = Member().attached(to: context)
    let errand = Shopping()
    context.bind(errand, as: (any Errand).self)
    #expect(context.link(.errand) === errand && member.link(.errand) === errand)
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

  @Test func aNameOfAStringIsThatString() {
    #expect(UDIName("a") == "a" && UDIName("a").hashValue == ("a" as UDIName).hashValue)
    #expect(UDIName("a").description == "a" && UDIName("a" as Any) == "a")
    #expect(
      UDIName("two\nlines").description == #"two\u{000A}lines"#
        || UDIName("two\nlines").description == #"two\nlines"#)
  }

  private enum Tab { case home, search(String) }

  /// The values of the arguments are all different.
  @Test func aNameOfAnotherValueConsistsOfItsTypeAndDescription() throws {
    #expect(UDIName("two\nlines").description != UDIName(#"two\nlines"#).description)
    #expect(UDIName(5) == 5 && UDIName(5).description == "Swift.Int 5")
    #expect(UDIName(Tab.home).description == "UDITests.KeyTests.(private).Tab UDITests.KeyTests.(private).Tab.home")
    let id = UUID()
    func make<Value>(_ value: Value) -> UDIName { UDIName(value) }
    let values: [Any] = [
      "1", 1, 1.0, UInt8(1), Optional(1) as Any, Optional("1") as Any, Int?.none as Any, String?.none as Any, [1], true,
      Character("1"), Substring("1"), Tab.home, Tab.search("home"), Tab.search(""), Cellar.Tab.home, id, UUID(),
      Int.self,
    ]
    #expect(Swift.Set(values.map(make)).count == values.count)
    #expect(values.allSatisfy { make($0) == make($0) })
    #expect(make(id) == UDIName(id) && make(Optional(1)) != 1 && make(Tab.search("x")) == UDIName(Tab.search("x")))
  }

  /// Says the same of all of its cases.
  private enum Mute: String, CustomStringConvertible, CustomDebugStringConvertible {
    case one = "case", two, `default`
    var description: String { "mute" }
    var debugDescription: String { "mute" }
  }
  private enum Loud { case one, two }
  private enum Tree<Leaf> {
    case bare
    case leaf(Leaf)
    indirect case branch(Tree)
    case nothing(Void)
  }

  @Test func aNameOfACaseIsItsOwnWhateverItsTypeSaysAboutIt() {
    func make<Value>(_ value: Value) -> UDIName { UDIName(value) }
    let cases: [Any] = [
      Mute.one, Mute.two, Mute.default, Loud.one, Loud.two, Tree<Int>.bare, Tree<String>.bare, Tree<Mute>.bare,
      Tree<Int>.nothing(()), Tree<Int>.leaf(1), Tree<Int>.leaf(2), Tree<Int>.branch(.bare), Tree<Int>.branch(.leaf(1)),
      Tree<Tree<Int>>.leaf(.bare), FloatingPointSign.plus, FloatingPointSign.minus,
    ]
    #expect(Swift.Set(cases.map(make)).count == cases.count)
    #expect(make(Mute.one) == UDIName(Mute.one) && make(Mute.one as Any) == UDIName(Mute.one))
    #expect(UDIName(Mute.two).description == "UDITests.KeyTests.(private).Mute UDITests.KeyTests.(private).Mute.two")
    #expect(UDIName(Mute.default).description.hasSuffix("Mute.default"))
    // Where the type says nothing itself, the text is what `String(reflecting:)` says.
    for value in cases.dropFirst(3) {
      #expect(make(value).text == "\(String(reflecting: type(of: value))) \(String(reflecting: value))")
    }
  }

  @Test func whatIsRegisteredForACaseIsFoundForThatCaseOnly() throws {
    let context = UDIContext(tag: "context")
    context.register((any Service).self, named: UDIName(Mute.one)) { Plain("one") }
    context.register((any Service).self, named: UDIName(Tree.leaf(1))) { Plain("leaf") }
    #expect(context.link((any Service).self, named: UDIName(Mute.one)) is Plain)
    #expect(context.link((any Service).self, named: UDIName(Tree.leaf(1))) is Plain)
    for name in [UDIName(Mute.two), UDIName(Loud.one), "one", UDIName(Tree.leaf(2)), UDIName(Tree<Int>.bare)] {
      #expect(context.link((any Service).self, named: name) == nil)
    }
  }

  @Test func anObjectIsNoName() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = UDIName(Plain() as any Service)
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("A Plain is an object and cannot be a name: name it by a text."))
  }

  /// Notes how often it is described, compared and hashed.
  private struct Told: Hashable, CustomStringConvertible {
    let calls: Tally
    var description: String {
      calls.add()
      return "told"
    }
    static func == (left: Told, right: Told) -> Bool {
      left.calls.add()
      return false
    }
    func hash(into hasher: inout Hasher) { calls.add() }
  }

  /// Whatever is done with a name, the value that it was made from is not used again.
  @Test func aValueIsDescribedOnce() {
    let calls = Tally()
    let name = UDIName(Told(calls: calls))
    let (context, service) = (UDIContext(tag: "context"), Plain())
    context.bind(service, as: (any Service).self, named: name)
    #expect(context.link((any Service).self, named: name) === service && context.linkAll((any Service).self).count == 1)
    _ = (context.explain((any Service).self, named: name).description, "\(name)")
    #expect(context.unbind((any Service).self, named: name) && calls.count == 1)
    #expect(UDIName(Told(calls: calls)) == name)
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

  @Test func aNameIsTheSameHoweverItIsMade() {
    func make<Value>(_ value: Value) -> UDIName { UDIName(value) }
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

  /// Whether two names are the same does not hang on how they were made.
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
        #expect(object.linkInLine((any Service).self, named: same) === service && object.link(key) === service)
      }
      #expect(root.link((any Other).self, named: same) == nil, "another type")
      #expect(leaf.link((any Service).self, named: same, search: .descendants) == nil)
    }
  }

  /// The id of a key with a name is a hash of the type, too.
  @Test func oneNameOfTwoTypesMakesTwoKeys() {
    let key = TypeToken.of((any Service).self).key(named: "x")
    let other = TypeToken.of((any Other).self).key(named: "x")
    #expect(key.id != other.id && TypeToken.of((any Service).self).key(named: "y").id != key.id)
    #expect(key === TypeToken.of((any Service).self).key(named: "x"))
    #expect(key.id == TypeToken.of((any Service).self).keyID(named: "x"))
  }

  /// Interned keys go with the last binding that uses them.
  @Test func namesLeaveNothingBehind() {
    final class Mark: Sendable {}
    let type = TypeIdentity.of(Mark.self)
    let context = UDIContext(tag: "context")
    let mark = Mark()
    context.bind(mark, as: Mark.self, named: "mark")
    weak let key = NamedKey.of(type, "mark")
    #expect(context.linkAll(Mark.self).count == 1 && key != nil, "the binding keeps its key")
    #expect(type.namedKeys.load(ordering: .relaxed) == 1)
    context.unbind(Mark.self, named: "mark")
    #expect(key == nil && type.namedKeys.load(ordering: .relaxed) == 0)
    #expect(NamedKey.lock.withLock { unsafe NamedKey.table[TypeToken.of(type.firstType).keyID(named: "mark")] == nil })
  }

  /// While some threads drop a key, others make it again.
  @Test func threadsUseOneName() {
    let context = UDIContext(tag: "context")
    onThreads(4) { number in
      let service = Plain()
      for _ in 0..<500 {
        context.bind(service, as: (any Service).self, named: "shared")
        _ = context.link((any Service).self, named: "shared")
        context.unbind((any Service).self, named: "shared")
      }
    }
    #expect(context.link((any Service).self, named: "shared") == nil && boundHere(context).isEmpty)
  }
}

private protocol First {}
private protocol Second {}
private protocol Bound: AnyObject {}
private class Box<Content> {}
private class Object {}
