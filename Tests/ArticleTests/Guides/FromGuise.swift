import Synchronization
import Testing
import UDI
import UDITesting

// The code in the guide for users of Guise. Each row of its table has a test of its own: see `.ci/articles`.

struct FromGuise {
  nonisolated protocol Plugin: AnyObject, Sendable {}
  nonisolated final class Plug: Plugin {}
  nonisolated enum Name { case one }
  nonisolated struct Service: Sendable { let plugin: any Plugin }
  struct Plugins: UDIModule {
    func register(in context: UDIContext) { context.register((any Plugin).self) { Plug() } }
  }
  final class Holder: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    var plugin: (any Plugin)?
  }

  let context = UDIContext(tag: "App") { context in context.defaultLifetime = .unique }

  @Test(.ownAppContext) func defaultLifetime() throws {
    AppContext.defaultLifetime = .unique
    AppContext.register((any Plugin).self) { Plug() }
    #expect(try AppContext.require((any Plugin).self) !== AppContext.require((any Plugin).self))
    #expect(try AppContext.makeScope(tag: "scope").defaultLifetime == .unique)
  }

  @Test func wrapper() {
    final class Host: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked var plugin: (any Plugin)?
    }
    context.register((any Plugin).self) { Plug() }
    #expect(Host().attached(to: context).plugin is Plug)
  }

  @Test func registerAFactory() throws {
    context.register((any Plugin).self) { Plug() }
    #expect(try context.require((any Plugin).self) !== context.require((any Plugin).self))
  }

  @Test func registerAnInstance() {
    let plug = Plug()
    context.provide(plug, as: (any Plugin).self)
    #expect(context.link((any Plugin).self) === plug)
  }

  #if hasFeature(InferSendableFromCaptures)
    @Test func auto() throws {
      context.register(using: Service.init(plugin:))
      context.provide(Plug(), as: (any Plugin).self)
      #expect(try context.require(Service.self).plugin is Plug)
    }
  #endif

  @Test func registerWeakly() {
    withExtendedLifetime(Plug()) { plug in
      context.bind(plug, as: (any Plugin).self)
      #expect(context.link((any Plugin).self) === plug)
    }
    #expect(context.link((any Plugin).self) == nil)
  }

  @Test func resolve() {
    #expect(context.link((any Plugin).self) == nil)
  }

  @Test func resolveOrFail() throws {
    #expect(throws: UDILinkError.self) { try context.require((any Plugin).self) }
    context.register((any Plugin).self) { Plug() }
    #expect(try context.require((any Plugin).self) is Plug)
  }

  @Test func resolveAsynchronously() async throws {
    context.register((any Plugin).self, lifetime: .context) { _ in
      await Task.yield()
      return Plug()
    }
    #expect(withReporter(.silent) { context.link((any Plugin).self) == nil })
    #expect(try await context.obtain((any Plugin).self) is Plug)
  }

  @Test func lazyResolver() {
    final class Host: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked(keeps: .never) var plugin: (any Plugin)?
    }
    let host = Host().attached(to: context)
    #expect(host.plugin == nil)
    context.register((any Plugin).self) { Plug() }
    #expect(host.plugin is Plug)
  }

  @Test func container() throws {
    let plugins = try context.makeChild(tag: "plugins")
    plugins.provide(Plug(), as: (any Plugin).self)
    #expect(context.link((any Plugin).self) is Plug)
    plugins.removeFromParent()
    #expect(context.link((any Plugin).self) == nil)
  }

  @Test func nestedContainer() throws {
    let child = try context.makeScope(tag: "child")
    child.provide(Plug(), as: (any Plugin).self)
    #expect(child.link((any Plugin).self) is Plug && context.link((any Plugin).self) == nil)
  }

  @Test func assemble() {
    context.install(Plugins())
    #expect(context.link((any Plugin).self) is Plug)
  }

  @Test func resolveWithAName() {
    context.register((any Plugin).self, named: UDIName(Name.one)) { Plug() }
    #expect(context.link((any Plugin).self) == nil)
    #expect(context.link((any Plugin).self, named: UDIName(Name.one)) is Plug)
  }

  @Test func resolveWithAParameter() {
    context.register((any Plugin).self) { (_, _: Int) in Plug() }
    #expect(context.link((any Plugin).self, with: 5) is Plug)
  }

  @Test func key() throws {
    let key = UDIKey((any Plugin).self, named: "one")
    context.provide(Plug(), as: (any Plugin).self, named: "one")
    #expect(try context.require(key) is Plug)
  }

  @Test func unregister() {
    context.register((any Plugin).self, named: "one") { Plug() }
    context.unregister(UDIKey((any Plugin).self, named: "one"))
    #expect(context.link((any Plugin).self, named: "one") == nil)
  }

  @Test func resolveSeveral() {
    context.register((any Plugin).self) { Plug() }
    context.register((any Plugin).self, named: "one") { Plug() }
    #expect(context.linkAll((any Plugin).self).count == 2)
  }

  @Test func filter() {
    context.register((any Plugin).self, named: "low") { Plug() }.metadata(1)
    context.register((any Plugin).self, named: "high") { Plug() }.metadata(5)
    let found = context.registrations(of: (any Plugin).self).filter { $0.metadata as? Int == 5 }
    #expect(found.map(\.metadata).map { $0 as? Int } == [5])
  }

  @Test func cached() throws {
    context.register((any Plugin).self, lifetime: .context) { Plug() }
    #expect(try context.require((any Plugin).self) === context.require((any Plugin).self))
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
    context.register((any Plugin).self, lifetime: .context) { Plug() }
    let kept = context.link((any Plugin).self)
    let other = context.link((any Plugin).self, fresh: true)
    #expect(other != nil && other !== kept && context.link((any Plugin).self) === kept)
  }

  @MainActor @Test func injectable() {
    context.rules(for: Holder.self).inject(\.plugin)
    context.provide(Plug(), as: (any Plugin).self)
    let holder = Holder()
    context.inject(into: holder)
    #expect(holder.plugin is Plug)
  }

  @MainActor @Test func resolveInto() {
    let holder = Holder()
    context.rules(for: Holder.self).inject(\.plugin)
    let plug = Plug()
    holder.plugin = plug
    context.inject(into: holder)
    #expect(holder.plugin === plug, "a missing dependency leaves its property as it is")
  }

  @Test func impotentResolver() {
    #expect(withAppContext(.makeInert()) { AppContext.link((any Plugin).self) } == nil)
  }
}
