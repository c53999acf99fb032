import Synchronization
import Testing
import UDI

// What several guides say will surprise users of other libraries. What only one guide says is tested in its own file.
// `ConcurrencyArticle` and `FactoryIsolationTests` show what is said of the main actor.

struct Surprises {
  nonisolated protocol Service: AnyObject, Sendable {}
  nonisolated final class LiveService: Service {}
  nonisolated struct Finding: Sendable { let service: (any Service)? }
  nonisolated struct Page: Sendable { let number: Int }

  let context = UDIContext(tag: "App")

  @Test func aLookupGoesDownAndThenUp() throws {
    let middle = try context.makeChild(tag: "middle")
    let child = try middle.makeChild(tag: "child")
    let services = [context, child, middle].map { context in
      let service = LiveService()
      context.provide(service, as: (any Service).self)
      return service
    }
    #expect(middle.link((any Service).self) === services[2], "here")
    middle.unregister((any Service).self)
    #expect(middle.link((any Service).self) === services[1], "then below")
    child.unregister((any Service).self)
    #expect(middle.link((any Service).self) === services[0], "then above")
  }

  @Test func nobodyOutsideSeesIntoAScope() throws {
    let scope = try context.makeScope(tag: "scope")
    scope.provide(LiveService(), as: (any Service).self)
    #expect(context.link((any Service).self) == nil)
    context.provide(Page(number: 1))
    #expect(scope.link(Page.self)?.number == 1, "from inside, everything above is seen")
  }

  @Test func aFactorysLookupsOnlyGoUp() throws {
    try context.makeChild(tag: "child").provide(LiveService(), as: (any Service).self)
    context.register { context in Finding(service: context.link((any Service).self)) }
    context.register(named: "down") { context in Finding(service: context.link((any Service).self, search: .lineage)) }
    #expect(context.link((any Service).self) != nil)
    #expect(try context.require(Finding.self).service == nil)
    #expect(try context.require(Finding.self, named: "down").service != nil)
  }

  @Test func aNameIsATextOrMadeOfAValuesTypeAndDescription() {
    context.provide(LiveService(), as: (any Service).self, named: UDIName(Page(number: 1)))
    #expect(context.link((any Service).self, named: UDIName(Page(number: 1))) != nil)
    #expect(context.link((any Service).self, named: UDIName(Page(number: 2))) == nil)
    #expect(context.link((any Service).self) == nil)
    #expect(UDIName(1) != UDIName("1") && UDIName("1") == "1")
  }

  @Test func whatIsBoundIsNotKept() {
    withExtendedLifetime(LiveService()) { service in
      context.bind(service, as: (any Service).self)
      #expect(context.link((any Service).self) === service)
    }
    #expect(context.link((any Service).self) == nil)
    context.provide(LiveService(), as: (any Service).self)
    #expect(context.link((any Service).self) != nil)
  }

  @Test func theTypesOfArgumentsAreNotPartOfTheKey() {
    context.register { Page(number: 0) }
    context.register(replaces: true) { (_, number: Int) in Page(number: number) }
    #expect(withReporter(.silent) { context.link(Page.self) == nil })
    #expect(context.link(Page.self, with: 5)?.number == 5)
    #expect(context.link(Page.self, with: Int?(5))?.number == 5, "cast")
  }

  @Test(arguments: [false, true]) func eachSetOfArgumentsHasItsOwnInstance(isKept: Bool) {
    context.register((any Service).self, lifetime: isKept ? .context : .unique) { (_, _: Int) in LiveService() }
    let (one, two) = (context.link((any Service).self, with: 1), context.link((any Service).self, with: 2))
    #expect(one != nil && one !== two && (one === context.link((any Service).self, with: 1)) == isKept)
  }

  @Test func onCreateRunsWhenTheOutermostLookupEnds() throws {
    let journal = Mutex<[String]>([])
    context.register {
      LiveService()
    }.onCreate { _, _ in
      journal.withLock { $0.append("onCreate") }
    }
    context.register { context in
      let service = try context.require(LiveService.self)
      journal.withLock { $0.append("the other factory") }
      return Finding(service: service)
    }
    _ = try context.require(Finding.self)
    #expect(journal.withLock { $0 } == ["the other factory", "onCreate"])
  }

  @Test func aCycleIsAnErrorWithItsPath() {
    context.register { context in try context.require(Page.self) }
    let error = #expect(throws: UDILinkError.self) { try context.require(Page.self) }
    guard case .cycle(let path) = error?.cause else { return #expect(Bool(false), "it is a cycle") }
    #expect(path.count == 2)
  }

  @Test func aResetConcernsOneContext() throws {
    let scope = try context.makeScope(tag: "scope")
    for context in [context, scope] { context.register { LiveService() } }
    let (above, below) = try (context.require(LiveService.self), scope.require(LiveService.self))
    scope.reset(.context)
    #expect(try context.require(LiveService.self) === above && scope.require(LiveService.self) !== below)
  }
}
