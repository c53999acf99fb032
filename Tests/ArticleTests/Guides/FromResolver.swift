import Synchronization
import Testing
import UDI
import UDITesting

// The code in the guide for users of Resolver. Each row of its table has a test of its own: see `.ci/articles`.

struct FromResolver {
  nonisolated protocol Networking: AnyObject, Sendable {}
  nonisolated protocol Logging: AnyObject, Sendable {}
  nonisolated final class Network: Networking, Logging {
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
  struct Services: UDIModule {
    func register(in context: UDIContext) { context.register((any Networking).self) { Network() } }
  }
  struct Pair: Sendable {
    let first: any Networking
    let second: any Networking
  }
  final class Screen: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Required var net: any Networking
  }

  let context = UDIContext(tag: "App") { context in context.defaultLifetime = .graph }

  @Test(.ownAppContext) func defaultLifetime() throws {
    AppContext.defaultLifetime = .graph
    AppContext.register((any Networking).self) { Network() }
    AppContext.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try AppContext.require(Pair.self)
    #expect(pair.first === pair.second)
    #expect(try AppContext.require(Pair.self).first !== pair.first)
    #expect(try AppContext.makeScope(tag: "scope").defaultLifetime == .graph)
  }

  @Test func wrapper() {
    let network = Network()
    context.provide(network, as: (any Networking).self)
    let screen = Screen().attached(to: context)
    #expect(screen.net === network)
    withAppContext(context) { #expect(Screen().net === network, "attached to nothing") }
  }

  @Test(.ownAppContext) func registerAllServices() {
    #expect(AppContext.link((any Networking).self) == nil, "nothing is registered by itself")
    AppContext.install(Services())
    #expect(AppContext.link((any Networking).self) is Network)
  }

  @Test func register() {
    context.register((any Networking).self) { Network() }
    #expect(context.link((any Networking).self) is Network)
  }

  @Test func registerWithADependency() throws {
    context.register { context in try Service(net: context.require()) }
    #expect(throws: UDILinkError.self) { try context.require(Service.self) }
    context.register((any Networking).self) { Network() }
    #expect(try context.require(Service.self).net is Network)
  }

  @Test func registerWithAnArgument() {
    context.register { (context, id: Int) in Page(id: id) }
    #expect(context.link(Page.self, with: 5)?.id == 5)
  }

  @Test func resolveWithAnArgument() throws {
    context.register { (context, id: Int) in Page(id: id) }
    #expect(try context.require(Page.self, with: 5).id == 5)
  }

  @Test func resolve() throws {
    #expect(throws: UDILinkError.self) { try context.require((any Networking).self) }
    context.register((any Networking).self) { Network() }
    #expect(try context.require((any Networking).self) is Network)
  }

  @Test func optional() {
    #expect(context.link((any Networking).self) == nil)
  }

  @Test func registerWithAName() {
    context.register((any Networking).self, named: "mock") { Network() }
    #expect(context.link((any Networking).self, named: "mock") != nil)
    context.register((any Networking).self) { Network() }
    #expect(context.link((any Networking).self, named: "other") == nil, "names are exact")
  }

  @Test func application() throws {
    context.register((any Networking).self, lifetime: .context) { Network() }
    #expect(try context.require((any Networking).self) === context.require((any Networking).self))
  }

  @Test func containerScope() throws {
    context.register((any Networking).self, lifetime: .scope) { Network() }
    let (one, two) = try (context.makeScope(tag: "one"), context.makeScope(tag: "two"))
    let network = try one.require((any Networking).self)
    #expect(try one.require((any Networking).self) === network && two.require((any Networking).self) !== network)
    #expect(withReporter(.silent) { context.link((any Networking).self) == nil }, "outside all scopes")
  }

  @Test func registerAgain() throws {
    context.register((any Networking).self, lifetime: .context) { Network() }
    let network = try context.require((any Networking).self)
    context.register((any Networking).self, lifetime: .context, replaces: true) { Network() }
    #expect(try context.require((any Networking).self) !== network)
  }

  @Test func unique() throws {
    context.register((any Networking).self, lifetime: .unique) { Network() }
    #expect(try context.require((any Networking).self) !== context.require((any Networking).self))
  }

  @Test func graph() throws {
    context.register((any Networking).self, lifetime: .graph) { Network() }
    context.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try context.require(Pair.self)
    #expect(try pair.first === pair.second && context.require(Pair.self).first !== pair.first)
  }

  @Test func shared() throws {
    context.register((any Networking).self, lifetime: .weak) { Network() }
    weak let gone = context.link((any Networking).self)
    #expect(gone == nil)
    try withExtendedLifetime(context.require((any Networking).self)) { held in
      #expect(context.link((any Networking).self) === held)
    }
  }

  @Test func implements() throws {
    context.defaultLifetime = .context
    context.register { Network() }.implements((any Logging).self)
    #expect(try context.require((any Logging).self) === context.require(Network.self))
  }

  @Test func resolveProperties() throws {
    context.register {
      Network()
    }.onCreate { context, network in
      network.isReady = true
    }
    #expect(try context.require(Network.self).isReady)
  }

  @Test func reset() throws {
    context.register((any Networking).self, lifetime: .context) { Network() }
    let network = try context.require((any Networking).self)
    context.reset(.context)
    #expect(try context.require((any Networking).self) !== network)
  }

  @Test func injected() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var net: any Networking
    }
    context.register((any Networking).self) { Network() }
    let screen = Screen().attached(to: context)
    #expect(screen.net === screen.net, "it keeps what it found")
  }

  @Test func optionalInjected() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked var net: (any Networking)?
    }
    let screen = Screen().attached(to: context)
    #expect(screen.net == nil)
    context.register((any Networking).self) { Network() }
    #expect(screen.net is Network, "a miss is not kept")
  }

  @Test func weakLazyInjected() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked(keeps: .weakly) var net: (any Networking)?
    }
    let screen = Screen().attached(to: context)
    withExtendedLifetime(Network()) { network in
      context.bind(network, as: (any Networking).self)
      #expect(screen.net === network)
    }
    #expect(screen.net == nil)
  }

  @Test func childContainer() throws {
    context.provide(Network(), as: (any Networking).self)
    let child = try context.makeScope(tag: "child")
    #expect(child.link((any Networking).self) === context.link((any Networking).self))
    child.provide(Page(id: 5))
    #expect(context.link(Page.self) == nil)
  }
}
