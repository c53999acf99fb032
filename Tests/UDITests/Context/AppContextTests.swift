import Testing
import UDI

@Suite struct AppContextTests {
  @Test func unattachedObjectsUseAppContext() {
    withAppContext(UDIContext(tag: "test")) {
      let (provider, user) = (Member(), Member())
      provider.bind(provider, as: (any Service).self)
      #expect(AppContext.link((any Service).self) === provider)
      #expect(user.linkInLine((any Service).self) === provider)
      #expect(user.linkInLine((any Service).self, named: "x") == nil)
      #expect(user.linkAll((any Service).self).count == 1)
      #expect(throws: UDILinkError.self) { try user.require((any Other).self) }
      #expect(user.find("none") == nil)
    }
  }

  @Test func overridesNestAndEnd() throws {
    let (outer, inner) = (UDIContext(tag: "outer"), UDIContext(tag: "inner"))
    struct Stop: Error {}
    withAppContext(outer) {
      #expect(AppContext === outer)
      #expect(throws: Stop.self) {
        try withAppContext(inner) { () throws(Stop) in
          #expect(AppContext === inner)
          throw Stop()
        }
      }
      #expect(AppContext === outer)
    }
    #expect(AppContext !== outer)
  }

  @Test func overridesReachTheTasksStartedInside() async {
    let context = UDIContext(tag: "test")
    await withAppContext(context) {
      #expect(AppContext === context)
      async let child = AppContext
      #expect(await child === context)
      #expect(await Task { AppContext }.value === context)
      #expect(await Task.detached { AppContext }.value !== context)
    }
    let result = await withAppContext(context) { () async -> String in
      await Task.yield()
      return AppContext.tag
    }
    #expect(result == "test")
  }

  @Test func attachedObjectsKeepTheirTree() {
    let context = UDIContext(tag: "own")
    let (service, member) = (Plain(), Member().attached(to: context))
    context.bind(service, as: (any Service).self)
    withAppContext(UDIContext(tag: "other")) {
      #expect(member.linkInLine((any Service).self) === service)
    }
  }

  /// In a process of its own, because all tests share the process's context.
  @Test func theProcessesContextCanBeReplaced() async {
    await #expect(processExitsWith: .success) {
      let first = AppContext
      precondition(first.tag == "App" && first === AppContext)
      let second = UDIContext(tag: "second")
      precondition(replaceAppContext(with: second) === first)
      precondition(AppContext === second)
      let seenElsewhere = await Task.detached { AppContext }.value
      precondition(seenElsewhere === second)
    }
  }
}
