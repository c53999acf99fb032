import Testing
import UDI

// The code in the guide for users of Guise. Each row of its table has a test of its own: see `.ci/articles`.

struct FromGuise {
  nonisolated protocol Plugin: AnyObject, Sendable {}
  nonisolated final class Plug: Plugin {}
  nonisolated enum Name { case one }
  final class Holder: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    var plugin: (any Plugin)?
  }

  let context = UDIContext(tag: "App")

  @Test(arguments: [false, true]) func defaultLifetime(isSet: Bool) {
    if isSet {
      context.defaultLifetime = .context
    }
    context.register((any Plugin).self) { Plug() }
    let first = context.link((any Plugin).self)
    #expect(first != nil && (context.link((any Plugin).self) === first) == isSet)
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
    context.provide(Plug(), as: (any Plugin).self)
    let plug = context.link((any Plugin).self)
    #expect(plug != nil && context.link((any Plugin).self) === plug)
  }

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
    context.register((any Plugin).self, named: "low", metadata: 1) { Plug() }
    context.register((any Plugin).self, named: "high", metadata: 5) { Plug() }
    let found = context.registrations(of: (any Plugin).self, where: { (level: Int) in level > 3 })
    #expect(found.map(\.metadata).map { $0 as? Int } == [5])
  }

  @Test func cached() throws {
    context.register((any Plugin).self, lifetime: .context) { Plug() }
    #expect(try context.require((any Plugin).self) === context.require((any Plugin).self))
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
    context.inject(into: holder)
    #expect(holder.plugin == nil, "a missing dependency leaves its property as it is")
  }

  @Test func impotentResolver() {
    #expect(withAppContext(.makeInert()) { AppContext.link((any Plugin).self) } == nil)
  }
}
