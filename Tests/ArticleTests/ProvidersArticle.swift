import Synchronization
import Testing
import UDI

// The code in "Providers": `.ci/articles` compares it with the article.

struct ProvidersArticle {
  protocol Clock: Sendable {}
  struct SystemClock: Clock {}
  protocol Store: Sendable {}
  struct Files: Store {}
  struct Memory: Store {}
  struct User: Sendable { let name: String }
  final class Draft: Sendable {
    let author: User
    let isSaved = Mutex(false)
    init(author: User) { self.author = author }
    func save() { isSaved.withLock { $0 = true } }
  }
  protocol Editor: Sendable {}
  struct Notepad: Editor {
    init(store: any Store, clock: any Clock) {}
  }
  protocol Page: Sendable { var number: Int { get } }
  struct Sheet: Page {
    let number: Int
    let title: String
    init(_ number: Int, _ title: String) { (self.number, self.title) = (number, title) }
  }
  final class Parent: Sendable {
    private let kept = Mutex<Child?>(nil)
    var child: Child? {
      get { kept.withLock { $0 } }
      set { kept.withLock { $0 = newValue } }
    }
  }
  final class Child: Sendable {}
  protocol Reader: AnyObject, Sendable {}
  protocol Writer: AnyObject, Sendable {}
  protocol Codec: Sendable {}
  struct FastCodec: Codec {}
  enum Speed { case low, high }

  // Silent, because the link that finds no store is a misuse.
  @Test func factories() {
    withReporter(.silent) {
      let app = UDIContext(tag: "App")
      app.register((any Clock).self) { SystemClock() }
      app.register((any Editor).self) { context in
        try Notepad(store: context.require(), clock: context.require())
      }
      let editor = app.link((any Editor).self)
      #expect(editor == nil, "there is no store yet")
      app.provide(Files(), as: (any Store).self)
      #expect(app.link((any Editor).self) != nil)
    }
  }

  @MainActor @Test func byAnInitialiser() throws {
    let app = UDIContext(tag: "App")
    app.register((any Editor).self, using: Notepad.init(store:clock:))
    app.provide(Files(), as: (any Store).self)
    let error = #expect(throws: UDILinkError.self) { try app.require((any Editor).self) }
    #expect(error?.description.contains("Editor needs it as parameter 2 of its initialiser") == true)
    app.provide(SystemClock(), as: (any Clock).self)
    #expect(app.link((any Editor).self) != nil)
  }

  @Test func oneForEachScope() async throws {
    let app = UDIContext(tag: "App")
    app.register(Draft.self, lifetime: .scope) { context in
      Draft(author: try context.require(User.self))
    }.onClose { draft in
      draft.save()
    }
    let window = try app.makeScope(tag: "window")
    window.provide(User(name: "Ann"))
    let draft = try window.require(Draft.self)
    #expect(draft.author.name == "Ann")
    let error = #expect(throws: UDILinkError.self) { try app.require(Draft.self) }
    #expect(error?.cause == .noScope(kind: nil, present: []))
    try await window.close()
    #expect(draft.isSaved.withLock { $0 })
  }

  @Test func registeringAgain() {
    let reports = Mutex(0)
    withReporter(UDIReporter { _ in reports.withLock { $0 += 1 } }) {
      let app = UDIContext(tag: "App")
      app.register((any Store).self) { Files() }
      app.provide(Memory(), as: (any Store).self, replaces: true)
      app.register((any Store).self, replaces: false) { Files() }
      let store = app.link((any Store).self)  // the memory
      #expect(store is Memory)
    }
    #expect(reports.withLock { $0 } == 0)
  }

  @Test func arguments() {
    let app = UDIContext(tag: "App")
    app.register((any Page).self) { (context, number: Int, title: String) in Sheet(number, title) }
    let page = app.link((any Page).self, with: 5, "Five")
    #expect(page?.number == 5)
  }

  @Test func argumentsAreCast() {
    nonisolated class Animal: Hashable, @unchecked Sendable {  // Unchecked: nothing in it changes.
      static func == (left: Animal, right: Animal) -> Bool { left === right }
      func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
    nonisolated final class Dog: Animal, @unchecked Sendable {}
    struct Label: Sendable { let text: String }

    let app = UDIContext(tag: "App")
    app.register(Label.self, named: "class") { (_, _: Animal) in Label(text: "an animal") }
    app.register(Label.self, named: "protocol") { (_, value: any Hashable & Sendable) in Label(text: "\(value)") }
    app.register(Label.self, named: "optional") { (_, number: Int?) in Label(text: number.map { "\($0)" } ?? "nil") }
    app.register(Label.self, named: "number") { (_, number: Int) in Label(text: "\(number)") }
    app.register(Label.self, named: "double") { (_, number: Double) in Label(text: "\(number)") }
    app.register(Label.self, named: "wide") { (_, number: Int64) in Label(text: "\(number)") }

    #expect(app.link(Label.self, named: "class", with: Dog())?.text == "an animal")
    #expect(app.link(Label.self, named: "protocol", with: "text")?.text == "text")
    #expect(app.link(Label.self, named: "optional", with: 5)?.text == "5")
    #expect(app.link(Label.self, named: "optional", with: Int?.none)?.text == "nil")
    #expect(app.link(Label.self, named: "number", with: Int?(5))?.text == "5")
    #expect(app.link(Label.self, named: "double", with: 5.0)?.text == "5.0")

    #expect(throws: UDILinkError.self) { try app.require(Label.self, named: "number", with: Int?.none) }
    #expect(throws: UDILinkError.self) { try app.require(Label.self, named: "double", with: 5) }
    #expect(throws: UDILinkError.self) { try app.require(Label.self, named: "wide", with: 5) }
    let error = #expect(throws: UDILinkError.self) { try app.require(Label.self, named: "number", with: 5, 6) }
    #expect(error?.cause == .otherArguments(wanted: ["Swift.Int"], given: ["Swift.Int", "Swift.Int"]))
  }

  @Test func twoWays() throws {
    let app = UDIContext(tag: "App")
    app.register(Child.self) { Child() }
    app.register(Parent.self) {
      Parent()
    }.onCreate { context, parent in
      parent.child = context.link(Child.self)
    }
    #expect(try app.require(Parent.self).child === app.link(Child.self))
  }

  @Test func otherTypes() throws {
    final class Store: Reader, Writer {}
    final class Search: Sendable {
      let store: Store
      init(in store: Store) { self.store = store }
    }
    let app = UDIContext(tag: "App")
    app.register(Store.self) { Store() }.implements((any Reader).self)
    app.register((any Writer).self) { context in try context.require(Store.self) }
    app.register(Search.self) { context in Search(in: try context.require(Store.self)) }
    let store = try app.require(Store.self)
    #expect(try app.require((any Reader).self) === store && app.require((any Writer).self) === store)
    #expect(try app.require(Search.self).store === store)
  }

  @Test func metadata() {
    let app = UDIContext(tag: "App")
    app.register((any Codec).self, named: "fast") { FastCodec() }.metadata(Speed.high)
    let fast = app.registrations(of: (any Codec).self).filter { $0.metadata as? Speed == .high }
    let codec = fast.first?.link()
    #expect(codec is FastCodec)
  }
}
