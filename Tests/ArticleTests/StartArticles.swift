import Testing
import UDI
import UDITesting

// The code in "The tree and its searches", "Lifetimes" and "Concurrency": `.ci/articles` compares it with them.

protocol Greeter: Sendable { func greet(_ name: String) -> String }

struct Sign: Greeter {
  func greet(_ name: String) -> String { "Please ring, \(name)." }
}

final class Host: UDIObject, Greeter {
  let _attachedContext = UDIAttachment()
  func didAttachContext() { bind(self, as: (any Greeter).self) }
  func greet(_ name: String) -> String { "Welcome, \(name)!" }
}

extension UDIKey<any Greeter> {
  static var nightPorter: Self { Self(named: "night porter") }
}

final class Door: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Linked(keeps: .never) var greeter: (any Greeter)?
  func open() -> String { greeter?.greet("Ann") ?? "Nobody is here." }
}

final class Reception {
  private let host: Host
  init(in lobby: UDIContext) { host = Host().attached(to: lobby) }
}

final class Window {
  let scope: UDIContext
  init(in root: UDIContext) throws { scope = try root.makeScope(tag: "window") }
  deinit { scope.removeFromParent() }
}

struct Limits: Sendable {}
struct Visitor: Sendable { let name: String }
struct Badge: Sendable { let greeter: (any Greeter)? }
struct Pass: Sendable { let visitor: Visitor }
final class Guests: Sendable { init() {} }

protocol Player: AnyObject { var title: String { get } }

@MainActor final class Screen: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Linked var player: (any Player)?  // not Sendable: fine, on the main actor
}

actor Mixer: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private var greeter: (any Greeter)?
  func prepare() { link(&greeter) }
}

extension Mixer {
  var isReady: Bool { linkInLine((any Greeter).self) != nil }
}

@MainActor final class ScreenModel: Sendable {}

@Suite(.ownAppContext) struct StartArticles {
  @Test func bindingsComeFirst() throws {
    let lobby = try AppContext.makeChild(tag: "Lobby")
    lobby.provide(Sign(), as: (any Greeter).self)
    let door = Door().attached(to: AppContext)
    #expect(door.open() == "Please ring, Ann.")
    withExtendedLifetime(Host().attached(to: lobby)) { #expect(door.open() == "Welcome, Ann!") }
    #expect(door.open() == "Please ring, Ann.")
  }

  @Test func tree() throws {
    let shop = UDIContext(tag: "Shop")
    let checkout = try shop.makeChild(tag: "Checkout")
    let payment = try checkout.makeChild(tag: "Payment")
    try shop.addChild(UDIContext(tag: "Search"))
    #expect(shop.context(at: ["Checkout", "Payment"]) === payment)
    #expect(payment.path == ["Checkout", "Payment"])
    #expect(throws: UDITreeError.self) { try payment.addChild(checkout) }
    withExtendedLifetime(shop) {}
  }

  @Test func several() throws {
    let lobby = UDIContext(tag: "Lobby")
    lobby.provide(Sign(), as: (any Greeter).self)
    let seats = try ["left", "right"].map { try lobby.makeChild(tag: $0) }
    let hosts = seats.map { Host().attached(to: $0) }
    print(lobby.linkAll((any Greeter).self).count)
    #expect(lobby.linkAll((any Greeter).self).count == 3)
    lobby.provide(Sign(), as: (any Greeter).self, named: "night porter")
    let porter = try lobby.require(.nightPorter)
    #expect(porter.greet("Ann") == "Please ring, Ann.")
    for number in 1...2 { lobby.provide(Limits(), named: UDIName(number)) }
    #expect(lobby.linkAll(Limits.self).count == 2)
    withExtendedLifetime(hosts) {}
  }

  @Test func windows() throws {
    let root = UDIContext(tag: "App")
    var window: Window? = try Window(in: root)
    #expect(window?.scope.parent === root)
    window = nil
    #expect(root.children.isEmpty)
  }

  @Test func making() throws {
    let shop = UDIContext(tag: "Shop")
    try shop.makeChild(tag: "Checkout").provide(Sign(), as: (any Greeter).self)
    shop.register(Badge.self) { context in
      Badge(greeter: context.link((any Greeter).self))
    }
    #expect(shop.link(Badge.self)?.greeter == nil && shop.link((any Greeter).self) != nil)
  }

  @Test func scopes() {
    var shown: [Any?] = []
    func show(_ value: Any?) { shown.append(value) }
    let server = UDIContext(tag: "Server")
    server.provide(Limits())
    server.withScope(tag: "request 1") { request in
      request.provide(Visitor(name: "Ann"))
      show(request.link(Limits.self))
      show(server.link(Visitor.self))
    }
    #expect(shown.map { $0 is Limits } == [true, false] && shown[1] == nil)
    shown = []
    server.register(Pass.self, lifetime: .scope) { context in
      Pass(visitor: try context.require(Visitor.self))
    }
    server.withScope(tag: "request 2") { request in
      request.provide(Visitor(name: "Ben"))
      show(request.link(Pass.self))
    }
    #expect((shown.first as? Pass)?.visitor.name == "Ben")
    #expect(throws: UDILinkError.self) { try server.require(Pass.self) }
  }

  @Test func lifetimes() {
    let (lobby, checkout) = (UDIContext(tag: "Lobby"), UDIContext(tag: "Checkout"))
    withExtendedLifetime(Host().attached(to: lobby)) {
      print(lobby.link((any Greeter).self) != nil)
    }
    print(lobby.link((any Greeter).self) != nil)
    withExtendedLifetime(Host().attached(to: lobby)) { #expect(lobby.link((any Greeter).self) != nil) }
    #expect(lobby.link((any Greeter).self) == nil)
    checkout.provide(Limits())
    checkout.register((any Greeter).self) { Host() }
    #expect(checkout.link((any Greeter).self)?.greet("Ann") == "Welcome, Ann!")
  }

  @Test func kindsOfScopes() throws {
    let lobby = UDIContext(tag: "Lobby")
    lobby.register(Guests.self, lifetime: .scope("room")) { Guests() }
    var shown: [Bool] = []
    func print(_ value: Bool) { shown.append(value) }
    let session = try lobby.makeScope(tag: "session")
    let room = try session.makeScope(tag: "17", kind: "room")
    try room.withScope(tag: "search") { search in
      print(try search.require(Guests.self) === room.require(Guests.self))  // true
    }
    #expect(shown == [true])
  }

  @Test func lifetimesOfScopes() throws {
    let lobby = UDIContext(tag: "Lobby")
    lobby.register(Badge.self, lifetime: .scope) { context in
      Badge(greeter: context.link((any Greeter).self))
    }
    let (one, other) = (try lobby.makeScope(tag: "one"), try lobby.makeScope(tag: "other"))
    one.provide(Sign(), as: (any Greeter).self)
    #expect(one.link(Badge.self)?.greeter != nil)
    let badge = try other.require(Badge.self)
    #expect(badge.greeter == nil)
  }

  @Test func holding() {
    let lobby = UDIContext(tag: "Lobby")
    var isThere: Bool { lobby.link((any Greeter).self) != nil }
    withExtendedLifetime(Reception(in: lobby)) { #expect(isThere, "though nobody reads the property") }
    #expect(!isThere)
    _ = Host().attached(to: lobby)
    #expect(!isThere)
    lobby.provide(Host())
    #expect(isThere)
    lobby.unregister(Host.self)
    #expect(!isThere)
    lobby.register(Host.self) { Host() }
    #expect(!isThere && lobby.link(Host.self) != nil && isThere)
    lobby.reset()
    #expect(!isThere)
  }

  @Test func attachedContext() throws {
    let lobby = UDIContext(tag: "Lobby")
    let bar = try AppContext.makeChild(tag: "Bar")
    let host = Host().attached(to: lobby)
    print(host.attachedContext == lobby)
    host.attachedContext = bar
    host.attachedContext = nil
    func isBound(in context: UDIContext) -> Bool { context.link((any Greeter).self) != nil }
    #expect(host.attachedContext == nil && !isBound(in: lobby) && !isBound(in: bar))
    host.attachedContext = lobby
    #expect(host.attachedContext == lobby && isBound(in: lobby))
    host.attachedContext = bar
    #expect(host.attachedContext == bar && !isBound(in: lobby) && isBound(in: bar))
    #expect(host.attachedContext?.parent == AppContext)
  }

  @Test func aPublicObject() {
    let context = UDIContext(tag: "App")
    #expect(Porter().attached(to: context).attachedContext == context)
  }

  @Test func aRootIsNotHeldByItsChildren() throws {
    let child = try UDIContext(tag: "Root").makeChild(tag: "Child")
    #expect(child.parent == nil)
  }

  @Test func concurrency() async throws {
    let context = UDIContext(tag: "App")
    context.register(ScreenModel.self) { @MainActor in ScreenModel() }
    let model = try await context.obtain(ScreenModel.self)
    #expect(context.link(ScreenModel.self) === model)
    let host = Host().attached(to: context)
    let mixer = Mixer().attached(to: context)
    await mixer.prepare()
    #expect(await mixer.isReady)
    let task = Task {
      for await player in context.updates(of: (any Greeter).self) {
        print(player?.greet("Ann") ?? "nobody")
      }
    }
    task.cancel()
    await task.value
    withExtendedLifetime(host) {}
  }
}
