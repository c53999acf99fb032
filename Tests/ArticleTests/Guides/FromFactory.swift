import Observation
import Synchronization
import Testing
import UDI
import UDITesting

// The code in the guide for users of Factory. Each row of its table has a test of its own: see `.ci/articles`.

nonisolated extension UDILifetime {
  // Not in the suite, because an extension must be at file scope.
  static let session = UDILifetime("session", storage: .strong)
}

struct FromFactory {
  nonisolated protocol Service: AnyObject, Sendable {}
  nonisolated final class LiveService: Service {
    private let ready = Mutex(false)
    var isReady: Bool {
      get { ready.withLock { $0 } }
      set { ready.withLock { $0 = newValue } }
    }
  }
  nonisolated final class FakeService: Service {}
  nonisolated struct Page: Sendable { let id: Int }
  struct Pair: Sendable {
    let first: any Service
    let second: any Service
  }

  final class Screen: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Required var service: any Service
  }

  let context = UDIContext(tag: "App") { context in context.defaultLifetime = .unique }

  @Test func names() {
    context.register((any Service).self, named: "backup") { LiveService() }
    #expect(context.link((any Service).self) == nil && context.link((any Service).self, named: "backup") != nil)
  }

  @Test(.ownAppContext) func defaultLifetime() throws {
    AppContext.defaultLifetime = .unique
    AppContext.register((any Service).self) { LiveService() }
    #expect(try AppContext.require((any Service).self) !== AppContext.require((any Service).self))
    #expect(try AppContext.makeScope(tag: "scope").defaultLifetime == .unique)
  }

  @Test func wrapper() {
    let service = LiveService()
    context.provide(service, as: (any Service).self)
    let screen = Screen().attached(to: context)
    #expect(screen.service === service)
  }

  @Test func argumentsAreKeptApart() {
    final class Document: Sendable { init(_ number: Int) {} }
    context.register(Document.self, lifetime: .context) { (_, number: Int) in Document(number) }
    let (first, second) = (context.link(Document.self, with: 1), context.link(Document.self, with: 2))
    #expect(first != nil && first !== second && first === context.link(Document.self, with: 1))
  }

  @Test func register() {
    context.register((any Service).self) { LiveService() }
    #expect(context.link((any Service).self) is LiveService)
  }

  @Test(.ownAppContext) func resolve() throws {
    #expect(throws: UDILinkError.self) { try AppContext.require((any Service).self) }
    AppContext.register((any Service).self) { LiveService() }
    #expect(try AppContext.require((any Service).self) is LiveService)
  }

  @Test(.ownAppContext) func singleton() throws {
    AppContext.register((any Service).self, lifetime: .context) { LiveService() }
    let (one, two) = try (AppContext.makeChild(tag: "one"), AppContext.makeChild(tag: "two"))
    #expect(try one.require((any Service).self) === two.require((any Service).self))
  }

  @Test func cached() throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    #expect(try context.require((any Service).self) === context.require((any Service).self))
  }

  @Test func shared() throws {
    context.register((any Service).self, lifetime: .weak) { LiveService() }
    weak let gone = context.link((any Service).self)
    #expect(gone == nil)
    try withExtendedLifetime(context.require((any Service).self)) { held in
      #expect(context.link((any Service).self) === held)
    }
  }

  @Test func graph() throws {
    context.register((any Service).self, lifetime: .graph) { LiveService() }
    context.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try context.require(Pair.self)
    #expect(try pair.first === pair.second && context.require(Pair.self).first !== pair.first)
  }

  @Test func unique() throws {
    context.register((any Service).self, lifetime: .unique) { LiveService() }
    #expect(try context.require((any Service).self) !== context.require((any Service).self))
  }

  @Test func customScope() throws {
    enum Lifetimes {
      static let session = UDILifetime("session", storage: .strong)
    }
    context.register((any Service).self, lifetime: Lifetimes.session) { LiveService() }
    #expect(try context.require((any Service).self) === context.require((any Service).self))
  }

  @Test func inACustomScope() throws {
    context.register((any Service).self, lifetime: .session) { LiveService() }
    #expect(try context.require((any Service).self) === context.require((any Service).self))
  }

  @Test func resetOfACustomScope() throws {
    context.register((any Service).self, lifetime: .session) { LiveService() }
    context.register(LiveService.self, lifetime: .context) { LiveService() }
    let (service, other) = try (context.require((any Service).self), context.require(LiveService.self))
    context.reset(.session)
    #expect(try context.require((any Service).self) !== service && context.require(LiveService.self) === other)
  }

  @Test func resetOfEverything() throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    let service = try context.require((any Service).self)
    context.reset()
    #expect(try context.require((any Service).self) !== service)
  }

  @Test func parameterFactory() throws {
    context.register(Page.self) { (_, id: Int) in Page(id: id) }
    #expect(context.link(Page.self, with: 5)?.id == 5)
  }

  @Test func resolveWithAParameter() throws {
    context.register(Page.self) { (_, id: Int) in Page(id: id) }
    #expect(try context.require(Page.self, with: 5).id == 5)
  }

  @MainActor @Test func resolveOnMainActor() async throws {
    let context = UDIContext(tag: "App")
    context.register((any Service).self) { LiveService() }
    let found = await Task.detached { withReporter(.silent) { context.link((any Service).self) } }.value
    #expect(found == nil)
    let made = try await Task.detached { try await context.obtain((any Service).self) }.value
    #expect(made is LiveService)
  }

  @Test func registerAgain() throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    #expect(context.link((any Service).self) is LiveService)
    context.register((any Service).self, replaces: true) { FakeService() }
    #expect(context.link((any Service).self) is FakeService)
    context.unregister((any Service).self)
    #expect(context.link((any Service).self) == nil, "there is no original registration")
  }

  @Test(.ownAppContext) func pushAndPop() {
    AppContext.provide(LiveService(), as: (any Service).self)
    func test() { #expect(AppContext.link((any Service).self) is FakeService) }
    withOverride(of: (any Service).self, with: FakeService()) { test() }
    #expect(AppContext.link((any Service).self) is LiveService)
  }

  @Test func decorator() throws {
    context.register {
      LiveService()
    }.onCreate { _, service in
      service.isReady = true
    }
    #expect(try context.require(LiveService.self).isReady)
  }

  @Test func promised() {
    #expect(context.link((any Service).self) == nil)
  }

  @Test func autoRegister() {
    let context = UDIContext(tag: "App") { context in context.register((any Service).self) { LiveService() } }
    #expect(context.link((any Service).self) is LiveService)
  }

  @Test func autoRegisterLeavesWhatWasRegisteredBefore() {
    context.register((any Service).self) { FakeService() }
    context.register((any Service).self, replaces: false) { LiveService() }
    #expect(context.link((any Service).self) is FakeService)
  }

  @Test(arguments: [["program"], ["program", "fake"]]) func onArg(arguments: [String]) {
    context.register((any Service).self) { LiveService() }
    if arguments.contains("fake") { context.register((any Service).self, replaces: true) { FakeService() } }
    #expect((context.link((any Service).self) is FakeService) == (arguments.count == 2))
  }

  @Test func injected() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var service: any Service
    }
    let screen = Screen()
    let service = LiveService()
    context.provide(service, as: (any Service).self)
    screen.attachedContext = context
    #expect(screen.service === service, "looked up when the object is attached, not when it is made")
    let elsewhere = UDIContext(tag: "Elsewhere")
    elsewhere.provide(FakeService(), as: (any Service).self)
    screen.attachedContext = elsewhere
    #expect(screen.service is FakeService)
  }

  @Test func weakLazyInjected() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked(keeps: .weakly) var service: (any Service)?
    }
    let screen = Screen().attached(to: context)
    withExtendedLifetime(LiveService()) { service in
      context.bind(service, as: (any Service).self)
      #expect(screen.service === service)
    }
    #expect(screen.service == nil)
  }

  @Test func dynamicInjected() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked(keeps: .never) var service: (any Service)?
    }
    let screen = Screen().attached(to: context)
    context.register((any Service).self) { LiveService() }
    let first = screen.service
    #expect(first != nil && screen.service !== first)
  }

  @MainActor @Test(.timeLimit(.minutes(10))) func injectedObservable() async {
    @MainActor final class Screen: @MainActor UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Followed var service: (any Service)?
    }
    let context = UDIContext(tag: "App")
    let screen = Screen().attached(to: context)
    let (changes, change) = AsyncStream<Void>.makeStream()
    withObservationTracking {
      #expect(screen.service == nil)
    } onChange: {
      change.finish()
    }
    context.register((any Service).self) { LiveService() }
    for await _ in changes {}
    #expect(screen.service != nil)
  }

  @Test func injectedType() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked var service: (any Service)?
    }
    let screen = Screen().attached(to: context)
    #expect(screen.service == nil)
    context.register((any Service).self) { LiveService() }
    let first = screen.service
    #expect(first != nil && screen.service === first)
  }

  @Test(.ownAppContext) func customContainer() throws {
    AppContext.provide(LiveService(), as: (any Service).self)
    let payments = try AppContext.makeChild(tag: "Payments")
    payments.provide(FakeService(), as: (any Service).self)
    #expect(payments.link((any Service).self) is FakeService)
    payments.unregister((any Service).self)
    #expect(payments.link((any Service).self) is LiveService)
  }

  @Test func tags() {
    context.register((any Service).self, named: "one") { LiveService() }
    context.register((any Service).self, named: "two") { FakeService() }
    #expect(context.linkAll((any Service).self).count == 2)
  }

  @Test(.ownAppContext { $0.register((any Service).self) { FakeService() } })
  func containerTrait() {
    #expect(AppContext.link((any Service).self) is FakeService)
  }
}
