import Synchronization
import Testing
import UDI

// The calls in the guides for users of other libraries: `.ci/articles` compares them.

private struct Weak<Object: AnyObject> {
  weak var object: Object?
}

struct OriginalUDIGuide {
  protocol Store: AnyObject, Sendable {}

  final class Screen: UDIObject, Store, @unchecked Sendable {  // Unchecked: used by one test on one thread.
    let _attachedContext = UDIAttachment()
    var store: (any Store)?
    @AppLinked var shared: (any Store)?
    func didAttachContext() {
      bind(self, as: (any Store).self)
      multiBind(self, as: (any Store).self)
      link(\.store)
    }
    var other: (any Store)? { linkInLine((any Store).self) }
    var place: UDIContext? { find("Checkout") }
  }

  final class Reader {
    @AppLinked var store: (any Store)?
  }

  @Test func calls() throws {
    try withAppContext(UDIContext(tag: "App")) {
      let shop = UDIContext(tag: "Shop")
      try AppContext.addChild(shop)
      let screen = Screen().attached(to: shop)
      try shop.makeChild(tag: "Checkout")
      #expect(screen.store === screen && screen.other === screen && screen.place?.tag == "Checkout")
      #expect(Reader().store === screen)
      AppContext.removeChild(tag: "Shop")
    }
  }

  @Test(arguments: [false, true]) func defaultLifetime(isSet: Bool) throws {
    final class Shelf: Store {}
    let context = UDIContext(tag: "App")
    if isSet {
      context.defaultLifetime = .weak
    }
    context.register((any Store).self) { Shelf() }
    try withExtendedLifetime(context.require((any Store).self)) { held in
      #expect((context.link((any Store).self) === held) == isSet)
    }
    weak let gone = context.link((any Store).self)
    #expect(gone == nil, "nobody holds it")
  }
}

struct ResolverGuide {
  protocol Networking: AnyObject, Sendable {}
  protocol Logging: Sendable {}
  final class Network: Networking, Logging {
    private let ready = Mutex(false)
    var isReady: Bool {
      get { ready.withLock { $0 } }
      set { ready.withLock { $0 = newValue } }
    }
  }
  struct Service: Sendable {
    let net: any Networking
  }
  struct Page: Sendable {
    let id: Int
  }
  struct Pair: Sendable {
    let first: any Networking
    let second: any Networking
  }
  final class Screen: UDIObject {
    let _attachedContext = UDIAttachment()
    @Required var net: any Networking
    @Linked var maybe: (any Networking)?
    @WeaklyLinked var loose: (any Networking)?
    func didAttachContext() {}
  }

  @Test func calls() throws {
    let context = UDIContext(tag: "App")
    context.register((any Networking).self) { Network() }
    context.register((any Networking).self, named: "mock") { Network() }
    context.register { context in try Service(net: context.require()) }
    context.register { (context, id: Int) in Page(id: id) }
    context.register { Network() }.implements((any Logging).self)
    #expect(context.link((any Networking).self) != nil && context.link(Page.self, with: 5)?.id == 5)
    context.register {
      Network()
    } onCreate: { context, network in
      network.isReady = true
    }
    #expect(try context.require(Network.self).isReady)
    context.register((any Networking).self, lifetime: .context) { Network() }
    let kept = try context.require((any Networking).self)
    let screen = Screen().attached(to: context)
    #expect(screen.net === kept && screen.maybe === kept && screen.loose === kept)
    context.reset(.context)
    #expect(context.link((any Networking).self) !== kept)
    let child = try context.makeScope(tag: "child")
    #expect(child.link((any Networking).self) === context.link((any Networking).self))
  }

  @Test(arguments: [false, true]) func defaultLifetime(isSet: Bool) throws {
    let context = UDIContext(tag: "App")
    if isSet {
      context.defaultLifetime = .graph
    }
    context.register((any Networking).self) { Network() }
    context.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try context.require(Pair.self)
    #expect((pair.first === pair.second) == isSet)
    #expect(try context.require(Pair.self).first !== pair.first)
  }
}

struct SwinjectGuide {
  protocol Animal: AnyObject, Sendable {}
  protocol Pet: Sendable {}
  final class Cat: Animal, Pet {
    private let keeper = Mutex<Person?>(nil)
    var owner: Person? {
      get { keeper.withLock { $0 } }
      set { keeper.withLock { $0 = newValue } }
    }
  }
  /// The cat holds its owner, so the owner does not hold the cat.
  final class Person: Sendable {
    private let company = Mutex(Weak<Cat>())
    var cat: Cat? {
      get { company.withLock { $0.object } }
      set { company.withLock { $0.object = newValue } }
    }
  }
  struct Pair: Sendable {
    let first: any Animal
    let second: any Animal
  }
  struct Animals: UDIModule { func register(in context: UDIContext) { context.register { Cat() } } }

  @Test func calls() throws {
    let context = UDIContext(tag: "App")
    context.register((any Animal).self) { Cat() }
    context.register((any Animal).self, named: "mimi") { Cat() }
    #expect(context.link((any Animal).self) != nil && context.link((any Animal).self, named: "mimi") != nil)
    context.register((any Animal).self) { (_, _: String) in Cat() }
    #expect(context.link((any Animal).self, with: "mimi") != nil)
    context.register((any Animal).self, lifetime: .context) { Cat() }
    context.register { Cat() }.implements((any Pet).self)
    let child = try context.makeScope(tag: "child")
    #expect(child.link((any Animal).self) === context.link((any Animal).self))
    context.install(Animals())
    context.reset(.context)
    let session = UDILifetime("session", storage: .strong)
    context.register(Cat.self, lifetime: session) { Cat() }
    #expect(context.link(Cat.self) === context.link(Cat.self))
  }

  @Test func initCompleted() throws {
    let context = UDIContext(tag: "App")
    context.register(lifetime: .graph) {
      Cat()
    } onCreate: { context, cat in
      cat.owner = context.link(Person.self)
    }
    context.register(lifetime: .graph) {
      Person()
    } onCreate: { context, person in
      person.cat = context.link(Cat.self)
    }
    let cat = try context.require(Cat.self)
    #expect(cat.owner?.cat === cat)
    let person = try context.require(Person.self)
    #expect(person !== cat.owner)
  }

  /// The same under the other lifetime that shares.
  @Test func initCompletedForWhatAContextOwns() throws {
    let context = UDIContext(tag: "App")
    context.register(lifetime: .context) {
      Cat()
    } onCreate: { context, cat in
      cat.owner = context.link(Person.self)
    }
    context.register(lifetime: .context) {
      Person()
    } onCreate: { context, person in
      person.cat = context.link(Cat.self)
    }
    let cat = try context.require(Cat.self)
    #expect(cat.owner?.cat === cat && cat.owner === context.link(Person.self))
  }

  @Test(arguments: [false, true]) func defaultLifetime(isSet: Bool) throws {
    let context = UDIContext(tag: "App")
    if isSet {
      context.defaultLifetime = .graph
    }
    context.register((any Animal).self) { Cat() }
    context.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try context.require(Pair.self)
    #expect((pair.first === pair.second) == isSet)
    #expect(try context.require(Pair.self).first !== pair.first)
  }
}

struct GuiseGuide {
  protocol Plugin: AnyObject, Sendable {}
  final class Plug: Plugin {}
  final class Holder: UDIObject {
    let _attachedContext = UDIAttachment()
    var plugin: (any Plugin)?
    func didAttachContext() {}
  }

  @MainActor @Test func calls() throws {
    let context = UDIContext(tag: "App")
    let (plug, holder) = (Plug(), Holder())
    context.register((any Plugin).self) { Plug() }
    context.provide(Plug(), as: (any Plugin).self)
    let provided = context.link((any Plugin).self)
    #expect(context.link((any Plugin).self, fresh: true) === provided, "there is one, that was given")
    context.bind(plug, as: (any Plugin).self)
    #expect(context.link((any Plugin).self) === plug)
    context.register((any Plugin).self, named: "one", metadata: 5) { Plug() }
    #expect(context.link((any Plugin).self, named: "one") != nil)
    #expect(context.linkAll((any Plugin).self).count == 2)
    let found = context.registrations(of: (any Plugin).self, where: { (level: Int) in level > 3 })
    #expect(found.count == 1)
    context.rules(for: Holder.self).inject(\.plugin)
    context.inject(into: holder)
    #expect(holder.plugin === plug)
    #expect(context.unregister(UDIKey((any Plugin).self, named: "one")))
    context.register((any Plugin).self) { (_, _: Int) in Plug() }
    #expect(context.link((any Plugin).self, with: 5) === plug)
    #expect(withAppContext(.makeInert()) { AppContext.link((any Plugin).self) } == nil)
  }

  @Test(arguments: [false, true]) func defaultLifetime(isSet: Bool) {
    let context = UDIContext(tag: "App")
    if isSet {
      context.defaultLifetime = .context
    }
    context.register((any Plugin).self) { Plug() }
    let first = context.link((any Plugin).self)
    #expect(first != nil && (context.link((any Plugin).self) === first) == isSet)
  }
}
