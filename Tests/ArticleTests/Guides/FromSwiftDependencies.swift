import Testing
import UDI
import UDITesting

// The code in the guide for users of swift-dependencies. Each row of its table has a test of its own: see
// `.ci/articles`.

struct FromSwiftDependencies {
  nonisolated protocol Client: AnyObject, Sendable {}
  nonisolated final class HTTPClient: Client {
    let host: String
    init(host: String = "localhost") { self.host = host }
  }
  nonisolated final class FakeClient: Client {}
  nonisolated struct Store: Sendable { let client: any Client }
  nonisolated struct Pair: Sendable {
    let client: any Client
    let player: Player
  }
  nonisolated struct Player: Sendable { var play: @Sendable (String) -> String }

  final class Model: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Required var client: any Client
  }

  let context = UDIContext(tag: "App")

  @Test func wrapper() {
    context.provide(FakeClient(), as: (any Client).self)
    let model = Model().attached(to: context)
    #expect(model.client is FakeClient)
  }

  @Test func namesAndArguments() {
    context.register((any Client).self, named: "mirror") { (_, host: String) in HTTPClient(host: host) }
    let client = context.link((any Client).self, named: "mirror", with: "example.org")
    #expect((client as? HTTPClient)?.host == "example.org" && context.link((any Client).self) == nil)
  }

  @Test func liveValue() throws {
    context.register((any Client).self) { HTTPClient() }
    #expect(try context.require((any Client).self) === context.require((any Client).self))
  }

  @Test func liveValueThatNeedsAnother() throws {
    context.register(Store.self) { context in try Store(client: context.require()) }
    #expect(throws: UDILinkError.self) { try context.require(Store.self) }
    context.provide(FakeClient(), as: (any Client).self)
    #expect(try context.require(Store.self).client is FakeClient)
  }

  @Test(.ownAppContext) func prepareDependencies() {
    AppContext.provide(HTTPClient(), as: (any Client).self)
    #expect(AppContext.link((any Client).self) is HTTPClient)
  }

  @Test func dependencyInAClass() {
    final class Model: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var client: any Client
    }
    context.provide(HTTPClient(), as: (any Client).self)
    #expect(Model().attached(to: context).client is HTTPClient)
  }

  @Test func dependencyInAStruct() {
    struct Feature {
      let context: UDIContext
      var client: (any Client)? { context.link((any Client).self) }
    }
    context.provide(HTTPClient(), as: (any Client).self)
    #expect(Feature(context: context).client is HTTPClient)
  }

  @Test func dependencyByType() {
    final class Model: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var client: HTTPClient
    }
    context.provide(HTTPClient(host: "example.org"))
    #expect(Model().attached(to: context).client.host == "example.org")
  }

  @Test func dependencyClient() throws {
    context.provide(Player(play: { "plays \($0)" }))
    #expect(try context.require(Player.self).play("a waltz") == "plays a waltz")
  }

  @Test func oneEndpoint() throws {
    context.provide(Player(play: { "plays \($0)" }))
    var player = try context.require(Player.self)
    player.play = { _ in "silence" }
    context.provide(player, replaces: true)
    #expect(try context.require(Player.self).play("a waltz") == "silence")
  }

  @Test(.ownAppContext) func withDependencies() throws {
    AppContext.provide(HTTPClient(), as: (any Client).self)
    AppContext.provide(Player(play: { "plays \($0)" }))
    AppContext.register(Store.self) { context in try Store(client: context.require()) }
    AppContext.register(lifetime: .unique) { context in try Pair(client: context.require(), player: context.require()) }
    let model = Model().attached(to: AppContext)
    var runs = 0
    func run() {
      runs += 1
      #expect(AppContext.link((any Client).self) is FakeClient && AppContext.link(Player.self) != nil)
      #expect(AppContext.link(Pair.self)?.client is FakeClient, "made from the scope")
      #expect(AppContext.link(Store.self)?.client is HTTPClient, "owned above the scope")
      #expect(model.client is HTTPClient, "attached above the scope")
    }
    AppContext.withScope(tag: "fakes") { scope in
      scope.provide(FakeClient(), as: (any Client).self)
      withAppContext(scope) { run() }
    }
    #expect(runs == 1 && AppContext.link((any Client).self) is HTTPClient && AppContext.children.isEmpty)
    #expect(withAppContext(UDIContext(tag: "Fakes")) { AppContext.link(Player.self) } == nil)
  }

  @Test func withDependenciesFrom() {
    final class Parent: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var client: any Client
      func makeChild() -> Model { Model().attached(to: self) }
    }
    context.provide(FakeClient(), as: (any Client).self)
    let parent = Parent().attached(to: context)
    #expect(parent.makeChild().client === parent.client)
  }

  @Test func withOtherDependenciesFrom() throws {
    context.provide(HTTPClient(), as: (any Client).self)
    let child = try context.makeScope(tag: "preview")
    child.provide(FakeClient(), as: (any Client).self)
    #expect(Model().attached(to: child).client is FakeClient && Model().attached(to: context).client is HTTPClient)
  }

  @Test(.ownAppContext) func withEscapedDependencies() async {
    AppContext.provide(FakeClient(), as: (any Client).self)
    let context = AppContext
    let task = Task.detached { context.link((any Client).self) }
    #expect(await task.value is FakeClient)
    #expect(await Task.detached { AppContext.link((any Client).self) }.value == nil, "the process's AppContext")
  }

  @Test func clock() async throws {
    context.provide(ContinuousClock(), as: (any Clock<Duration>).self)
    try await context.require((any Clock<Duration>).self).sleep(for: .zero)
    #expect(context.link((any Clock<Duration>).self) is ContinuousClock)
  }

  @Test(.ownAppContext { $0.provide(FakeClient(), as: (any Client).self) })
  func dependencyTrait() {
    #expect(AppContext.link((any Client).self) is FakeClient)
  }

  @Test(.ownAppContext) func withDependenciesInATest() {
    AppContext.provide(HTTPClient(), as: (any Client).self)
    func test() { #expect(AppContext.link((any Client).self) is FakeClient) }
    withOverride(of: (any Client).self, with: FakeClient()) { test() }
    #expect(AppContext.link((any Client).self) is HTTPClient)
  }

  @Test func invokeTest() {
    let found = withOwnAppContext { AppContext.link((any Client).self) }
    #expect(found == nil, "each operation has an AppContext of its own")
  }

  @Test(.ownAppContext) func noTestValue() {
    #expect(throws: UDILinkError.self) { try AppContext.require((any Client).self) }
  }
}
