import Synchronization
import Testing
import UDI

// The calls in the guides for those who come from elsewhere: `.ci/articles` compares them.

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
    let child = try context.makeChild(tag: "child", search: .ancestors)
    #expect(child.link((any Networking).self) === context.link((any Networking).self))
  }
}

struct SwinjectGuide {
  protocol Animal: AnyObject, Sendable {}
  protocol Pet: Sendable {}
  final class Cat: Animal, Pet {
    private let ready = Mutex(false)
    var isReady: Bool {
      get { ready.withLock { $0 } }
      set { ready.withLock { $0 = newValue } }
    }
  }
  struct Animals: UDIModule { func register(in context: UDIContext) { context.register { Cat() } } }

  @Test func calls() throws {
    let root = UDIContext(tag: "App", search: .ancestors)
    let context = root
    context.register((any Animal).self) { Cat() }
    context.register((any Animal).self, named: "mimi") { Cat() }
    #expect(context.link((any Animal).self) != nil && context.link((any Animal).self, named: "mimi") != nil)
    context.register((any Animal).self) { (_, _: String) in Cat() }
    #expect(context.link((any Animal).self, with: "mimi") != nil)
    context.register((any Animal).self, lifetime: .context) { Cat() }
    context.register { Cat() }.implements((any Pet).self)
    context.register {
      Cat()
    } onCreate: { context, cat in
      cat.isReady = true
    }
    #expect(try context.require(Cat.self).isReady)
    let child = try context.makeChild(tag: "child")
    #expect(child.link((any Animal).self) === context.link((any Animal).self))
    context.install(Animals())
    context.reset(.context)
    let session = UDILifetime("session", storage: .strong)
    context.register(Cat.self, lifetime: session) { Cat() }
    #expect(context.link(Cat.self) === context.link(Cat.self))
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
    #expect(context.linkFresh((any Plugin).self) === provided, "there is one, that was given")
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
    #expect(withAppContext(.inert) { AppContext.link((any Plugin).self) } == nil)
  }
}
