import Synchronization
import Testing
import UDI
import UDITesting

// The code in the guide for users of Resolver, Dip and Guise. Each row of its table has a test of its own: see
// `.ci/articles`.

struct FromOthers {
  nonisolated protocol Service: AnyObject, Sendable {}
  nonisolated protocol Logger: AnyObject, Sendable {}
  nonisolated final class LiveService: Service, Logger {
    private let ready = Mutex(false)
    var isReady: Bool {
      get { ready.withLock { $0 } }
      set { ready.withLock { $0 = newValue } }
    }
  }
  nonisolated struct Client: Sendable {
    let host: String
    let port: Int
  }
  nonisolated struct StoppedClock: Sendable {}
  nonisolated struct Report: Sendable {
    let service: any Service
    let clock: StoppedClock
  }
  nonisolated enum Name { case one }
  struct Panel: Sendable {
    let service: any Service
  }
  struct Services: UDIModule {
    func register(in context: UDIContext) { context.register((any Service).self) { LiveService() } }
  }
  final class Holder: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    var service: (any Service)?
  }
  struct Pair: Sendable {
    let first: any Service
    let second: any Service
  }

  final class Screen: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Linked var service: (any Service)?
  }

  let context = UDIContext(tag: "App") { context in context.defaultLifetime = .graph }

  @Test(.ownAppContext) func defaultLifetime() throws {
    AppContext.defaultLifetime = .graph
    AppContext.register((any Service).self) { LiveService() }
    AppContext.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try AppContext.require(Pair.self)
    #expect(pair.first === pair.second)
    #expect(try AppContext.require(Pair.self).first !== pair.first)
    #expect(try AppContext.makeScope(tag: "scope").defaultLifetime == .graph)
  }

  @Test func namesAreExact() {
    context.register((any Service).self) { LiveService() }
    #expect(context.link((any Service).self, named: "mock") == nil)
  }

  @Test func aNameGoesNoFurther() throws {
    let (service, mock) = (LiveService(), LiveService())
    context.provide(service, as: (any Service).self)
    context.provide(mock, as: (any Service).self, named: "mock")
    context.register(named: "mock") { context in try Pair(first: context.require(), second: context.require()) }
    #expect(try context.require(Pair.self, named: "mock").first === service)
  }

  @Test func warmUpMakesEverythingOrWhatItNames() async throws {
    let made = Mutex<[String]>([])
    context.register(LiveService.self, lifetime: .context) {
      made.withLock { $0.append("service") }
      return LiveService()
    }
    context.register(StoppedClock.self, lifetime: .context) {
      made.withLock { $0.append("clock") }
      return StoppedClock()
    }
    try await context.warmUp(LiveService.self)
    #expect(made.withLock { $0 } == ["service"])
    try await context.warmUp()
    #expect(made.withLock { $0 } == ["service", "clock"])
    context.register(Int.self) { 5 }
    #expect(context.link(Int.self) == 5, "one can register at any time")
  }

  @Test func resetKeepsTheRegistrations() {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    let service = context.link((any Service).self)
    context.reset()
    #expect(service != nil && context.link((any Service).self) != nil && context.link((any Service).self) !== service)
  }

  @Test func wrapper() {
    context.register((any Service).self) { LiveService() }
    #expect(Screen().attached(to: context).service != nil)
  }

  @Test func container() {
    let context = UDIContext(tag: "App")
    #expect(context.tag == "App" && context.parent == nil)
  }

  @Test func register() {
    context.register((any Service).self) { LiveService() }
    #expect(context.link((any Service).self) is LiveService)
  }

  @Test func unique() throws {
    context.register((any Service).self, lifetime: .unique) { LiveService() }
    #expect(try context.require((any Service).self) !== context.require((any Service).self))
  }

  @Test func shared() throws {
    context.register((any Service).self, lifetime: .graph) { LiveService() }
    context.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try context.require(Pair.self)
    #expect(try pair.first === pair.second && context.require(Pair.self).first !== pair.first)
  }

  @Test func singleton() throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    #expect(try context.require((any Service).self) === context.require((any Service).self))
  }

  @Test func weakSingleton() throws {
    context.register((any Service).self, lifetime: .weak) { LiveService() }
    weak let gone = context.link((any Service).self)
    #expect(gone == nil)
    try withExtendedLifetime(context.require((any Service).self)) { held in
      #expect(context.link((any Service).self) === held)
    }
  }

  @Test func eagerSingleton() async throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    let made = Mutex(0)
    context.register(Int.self, lifetime: .context) {
      made.withLock {
        $0 += 1; return $0
      }
    }
    try await context.warmUp()
    #expect(made.withLock { $0 } == 1)
  }

  @Test func resolve() throws {
    #expect(throws: UDILinkError.self) { try context.require((any Service).self) }
    context.register((any Service).self) { LiveService() }
    #expect(try context.require((any Service).self) is LiveService)
  }

  @Test func registerWithATag() {
    context.register((any Service).self, named: "mock") { LiveService() }
    #expect(context.link((any Service).self) == nil && context.link((any Service).self, named: "mock") != nil)
  }

  @Test func resolveWithATag() throws {
    context.register((any Service).self, named: "mock") { LiveService() }
    #expect(try context.require((any Service).self, named: "mock") is LiveService)
  }

  @Test func registerWithArguments() {
    context.register { (_, host: String, port: Int) in Client(host: host, port: port) }
    #expect(context.link(Client.self, with: "localhost", 80)?.port == 80)
    #expect(context.link(Client.self, with: String?("localhost"), 80)?.host == "localhost", "cast")
  }

  @Test func resolveWithArguments() throws {
    context.register { (_, host: String, port: Int) in Client(host: host, port: port) }
    #expect(try context.require(Client.self, with: "localhost", 80).host == "localhost")
  }

  #if hasFeature(InferSendableFromCaptures)
    @Test func autoWiring() throws {
      context.register(using: Report.init(service:clock:))
      context.provide(StoppedClock())
      #expect(throws: UDILinkError.self) { try context.require(Report.self) }
      context.provide(LiveService(), as: (any Service).self)
      #expect(try context.require(Report.self).service is LiveService)
    }
  #endif

  @Test func resolvingProperties() throws {
    context.register {
      LiveService()
    }.onCreate { _, service in
      service.isReady = true
    }
    #expect(try context.require(LiveService.self).isReady)
  }

  @Test func implements() throws {
    context.defaultLifetime = .context
    context.register { LiveService() }.implements((any Logger).self)
    #expect(try context.require((any Logger).self) === context.require(LiveService.self))
  }

  @Test func injected() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var service: any Service
    }
    let service = LiveService()
    context.provide(service, as: (any Service).self)
    #expect(Screen().attached(to: context).service === service)
  }

  @Test func injectedIfItIsThere() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked var service: (any Service)?
    }
    #expect(Screen().attached(to: context).service == nil)
    context.register((any Service).self) { LiveService() }
    let screen = Screen().attached(to: context)
    let first = screen.service
    #expect(first != nil && screen.service === first)
  }

  @Test func injectedWeak() {
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

  @Test func remove() {
    context.register((any Service).self) { LiveService() }
    context.unregister((any Service).self)
    #expect(context.link((any Service).self) == nil)
  }

  @Test func validate() async {
    let made = Mutex(0)
    context.register(Int.self) {
      made.withLock {
        $0 += 1; return $0
      }
    }
    await expectEverythingIsMade(in: context)
    #expect(made.withLock { $0 } == 1)
  }

  @Test func collaborate() throws {
    let other = UDIContext(tag: "Other")
    other.register((any Service).self) { LiveService() }
    try context.addChild(other)
    #expect(context.link((any Service).self) is LiveService)
    context.provide(StoppedClock())
    #expect(other.link(StoppedClock.self) != nil)
    #expect(try context.makeChild(tag: "Sibling").link((any Service).self) == nil)
    // Factories find what is above, and not what is below.
    let needy: @Sendable (UDIContext) throws -> Report = { try Report(service: $0.require(), clock: $0.require()) }
    context.register(Report.self, needy)
    #expect(withReporter(.silent) { context.link(Report.self) } == nil)
    other.register(Report.self, needy)
    #expect(other.link(Report.self) != nil)
  }

  @Test(.ownAppContext) func defaultLifetimeOfGuise() throws {
    AppContext.defaultLifetime = .unique
    AppContext.register((any Service).self) { LiveService() }
    #expect(try AppContext.require((any Service).self) !== AppContext.require((any Service).self))
    #expect(try AppContext.makeScope(tag: "scope").defaultLifetime == .unique)
  }

  @Test func attachedToNothing() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var service: any Service
    }
    let service = LiveService()
    context.provide(service, as: (any Service).self)
    withAppContext(context) { #expect(Screen().service === service) }
  }

  @Test(.ownAppContext) func registerAllServices() {
    #expect(AppContext.link((any Service).self) == nil, "nothing is registered by itself")
    AppContext.install(Services())
    #expect(AppContext.link((any Service).self) is LiveService)
  }

  @Test func registerWithADependency() throws {
    context.register { context in try Panel(service: context.require()) }
    #expect(throws: UDILinkError.self) { try context.require(Panel.self) }
    context.register((any Service).self) { LiveService() }
    #expect(try context.require(Panel.self).service is LiveService)
  }

  @Test func optional() {
    #expect(context.link((any Service).self) == nil)
  }

  @Test func oneForEachScope() throws {
    context.register((any Service).self, lifetime: .scope) { LiveService() }
    let (one, two) = try (context.makeScope(tag: "one"), context.makeScope(tag: "two"))
    let service = try one.require((any Service).self)
    #expect(try one.require((any Service).self) === service && two.require((any Service).self) !== service)
    #expect(withReporter(.silent) { context.link((any Service).self) == nil }, "outside all scopes")
  }

  @Test func registerAgain() throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    let service = try context.require((any Service).self)
    context.register((any Service).self, lifetime: .context, replaces: true) { LiveService() }
    #expect(try context.require((any Service).self) !== service)
  }

  @Test func resetALifetime() throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    let service = try context.require((any Service).self)
    context.reset(.context)
    #expect(try context.require((any Service).self) !== service)
  }

  @Test func childContainer() throws {
    context.provide(LiveService(), as: (any Service).self)
    let child = try context.makeScope(tag: "child")
    #expect(child.link((any Service).self) === context.link((any Service).self))
    child.provide(StoppedClock())
    #expect(context.link(StoppedClock.self) == nil)
  }

  @Test func registerAnInstance() {
    let service = LiveService()
    context.provide(service, as: (any Service).self)
    #expect(context.link((any Service).self) === service)
  }

  @Test func registerWeakly() {
    withExtendedLifetime(LiveService()) { service in
      context.bind(service, as: (any Service).self)
      #expect(context.link((any Service).self) === service)
    }
    #expect(context.link((any Service).self) == nil)
  }

  @Test func resolveAsynchronously() async throws {
    context.register((any Service).self, lifetime: .context) { _ in
      await Task.yield()
      return LiveService()
    }
    #expect(withReporter(.silent) { context.link((any Service).self) == nil })
    #expect(try await context.obtain((any Service).self) is LiveService)
  }

  @Test func lazyResolver() {
    final class Host: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked(keeps: .never) var service: (any Service)?
    }
    let host = Host().attached(to: context)
    #expect(host.service == nil)
    context.register((any Service).self) { LiveService() }
    #expect(host.service is LiveService)
  }

  @Test func childThatIsSeenFromAbove() throws {
    let services = try context.makeChild(tag: "services")
    services.provide(LiveService(), as: (any Service).self)
    #expect(context.link((any Service).self) is LiveService)
    services.removeFromParent()
    #expect(context.link((any Service).self) == nil)
  }

  @Test func resolveWithAName() {
    context.register((any Service).self, named: UDIName(Name.one)) { LiveService() }
    #expect(context.link((any Service).self) == nil)
    #expect(context.link((any Service).self, named: UDIName(Name.one)) is LiveService)
  }

  @Test func resolveWithAParameter() {
    context.register((any Service).self) { (_, _: Int) in LiveService() }
    #expect(context.link((any Service).self, with: 5) is LiveService)
  }

  @Test func key() throws {
    let key = UDIKey((any Service).self, named: "one")
    context.provide(LiveService(), as: (any Service).self, named: "one")
    #expect(try context.require(key) is LiveService)
  }

  @Test func unregisterAKey() {
    context.register((any Service).self, named: "one") { LiveService() }
    context.unregister(UDIKey((any Service).self, named: "one"))
    #expect(context.link((any Service).self, named: "one") == nil)
  }

  @Test func resolveSeveral() {
    context.register((any Service).self) { LiveService() }
    context.register((any Service).self, named: "one") { LiveService() }
    #expect(context.linkAll((any Service).self).count == 2)
  }

  @Test func filter() {
    context.register((any Service).self, named: "low") { LiveService() }.metadata(1)
    context.register((any Service).self, named: "high") { LiveService() }.metadata(5)
    let found = context.registrations(of: (any Service).self).filter { $0.metadata as? Int == 5 }
    #expect(found.map(\.metadata).map { $0 as? Int } == [5])
  }

  @Test func madeWhenAskedFor() throws {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    #expect(try context.require((any Service).self) === context.require((any Service).self))
    let made = Mutex(0)
    context.register(Int.self, lifetime: .context) {
      made.withLock {
        $0 += 1; return $0
      }
    }
    #expect(made.withLock { $0 } == 0, "not before it is asked for")
    #expect(context.link(Int.self) == 1 && context.link(Int.self) == 1)
  }

  @Test func notCached() {
    context.register((any Service).self, lifetime: .context) { LiveService() }
    let kept = context.link((any Service).self)
    let other = context.link((any Service).self, fresh: true)
    #expect(other != nil && other !== kept && context.link((any Service).self) === kept)
  }

  @MainActor @Test func injectable() {
    context.rules(for: Holder.self).inject(\.service)
    context.provide(LiveService(), as: (any Service).self)
    let holder = Holder()
    context.inject(into: holder)
    #expect(holder.service is LiveService)
  }

  @MainActor @Test func resolveInto() {
    let holder = Holder()
    context.rules(for: Holder.self).inject(\.service)
    let service = LiveService()
    holder.service = service
    context.inject(into: holder)
    #expect(holder.service === service, "a missing dependency leaves its property as it is")
  }

  @Test func impotentResolver() {
    #expect(withAppContext(.makeInert()) { AppContext.link((any Service).self) } == nil)
  }
}
