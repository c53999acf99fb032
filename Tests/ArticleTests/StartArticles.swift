import Testing
import UDI
import UDITesting

// The code of "Getting started", "The tree and its searches", "Lifetimes" and "Concurrency": `.ci/articles` compares it with them.

protocol Greeter: Sendable { func greet(_ name: String) -> String }

final class Host: UDIObject, Greeter {
  let _attachedContext = UDIAttachment()
  func didAttachContext() { bind(self, as: (any Greeter).self) }
  func greet(_ name: String) -> String { "Welcome, \(name)!" }
}

final class Door: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var greeter: (any Greeter)?
  func didAttachContext() {}
  func open() -> String { greeter?.greet("Ann") ?? "Nobody is here." }
}

struct Limits: Sendable {}

protocol Player: AnyObject { var title: String { get } }

@MainActor final class Screen: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var player: (any Player)?  // not Sendable: fine, on the main actor
  func didAttachContext() {}
}

actor Mixer: UDIObject {
  let _attachedContext = UDIAttachment()
  private var greeter: (any Greeter)?
  nonisolated func didAttachContext() {}
  func prepare() { link(&greeter) }
}

extension Mixer {
  var isReady: Bool { linkInLine((any Greeter).self) != nil }
}

@MainActor final class ScreenModel: Sendable {}

@Suite(.ownAppContext) struct StartArticles {
  @Test func gettingStarted() throws {
    let lobby = try AppContext.makeChild(tag: "Lobby")
    let host = Host().attached(to: lobby)
    let door = Door().attached(to: AppContext)
    print(door.open())
    #expect(door.open() == "Welcome, Ann!")
    print(door.explain((any Greeter).self))
    withExtendedLifetime(host) {}
  }

  @Test func tree() throws {
    let shop = UDIContext(tag: "Shop")
    let checkout = try shop.makeChild(tag: "Checkout")
    let payment = try checkout.makeChild(tag: "Payment")
    try shop.addChild(UDIContext(tag: "Search"))
    #expect(shop.context(at: ["Checkout", "Payment"]) === payment)
    #expect(payment.path == ["Checkout", "Payment"])
    #expect(throws: UDITreeError.self) { try payment.addChild(checkout) }
  }

  @Test func searches() {
    let root = UDIContext(tag: "Server", search: .ancestors)
    root.provide(Limits())
    let limits = root.withChild(tag: "request 1") { request in
      request.link(Limits.self)
    }
    #expect(limits != nil)
  }

  @Test func lifetimes() {
    let (lobby, checkout) = (UDIContext(tag: "Lobby"), UDIContext(tag: "Checkout"))
    var host: Host? = Host().attached(to: lobby)
    print(lobby.link((any Greeter).self) != nil)
    host = nil
    print(lobby.link((any Greeter).self) != nil)
    #expect(host == nil && lobby.link((any Greeter).self) == nil)
    checkout.provide(Limits())
    checkout.register((any Greeter).self, lifetime: .context) { Host() }
    #expect(checkout.link((any Greeter).self)?.greet("Ann") == "Welcome, Ann!")
  }

  @Test func concurrency() async throws {
    let context = UDIContext(tag: "App")
    context.registerOnMainActor(ScreenModel.self, lifetime: .context) { ScreenModel() }
    let model = await context.linkOnMainActor(ScreenModel.self)
    #expect(model != nil)
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
