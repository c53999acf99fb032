import Synchronization
import Testing
import UDI

// The code of "Providers": `.ci/articles` compares it with it.

struct ProvidersArticle {
  protocol Clock: Sendable {}
  struct SystemClock: Clock {}
  protocol Store: Sendable {}
  struct Files: Store {}
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
  protocol Codec: Sendable {}
  struct FastCodec: Codec {}
  enum Speed { case low, high }

  @Test func factories() {
    let app = UDIContext(tag: "App")
    app.register((any Clock).self, lifetime: .context) { SystemClock() }
    app.register((any Editor).self) { context in
      try Notepad(store: context.require(), clock: context.require())
    }
    let editor = app.link((any Editor).self)
    #expect(editor == nil, "there is no store yet")
    app.provide(Files(), as: (any Store).self)
    #expect(app.link((any Editor).self) != nil)
  }

  @Test func arguments() {
    let app = UDIContext(tag: "App")
    app.register((any Page).self) { (context, number: Int, title: String) in Sheet(number, title) }
    let page = app.link((any Page).self, with: 5, "Five")
    #expect(page?.number == 5)
  }

  @Test func twoWays() throws {
    let app = UDIContext(tag: "App")
    app.register(Child.self, lifetime: .context) { Child() }
    app.register(Parent.self, lifetime: .context) {
      Parent()
    } onCreate: { context, parent in
      parent.child = context.link(Child.self)
    }
    #expect(try app.require(Parent.self).child === app.link(Child.self))
  }

  @Test func metadata() {
    let app = UDIContext(tag: "App")
    app.register((any Codec).self, named: "fast", metadata: Speed.high) { FastCodec() }
    let fast = app.registrations(of: (any Codec).self, where: { (speed: Speed) in speed == .high })
    let codec = fast.first?.link()
    #expect(codec is FastCodec)
  }
}
