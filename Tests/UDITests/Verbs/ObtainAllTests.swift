import Testing

@testable import UDI

/// `obtainAll`, and `obtain` on a registration.
@Suite(.unlessItHangs, .silent) struct ObtainAllTests {
  let context = UDIContext(tag: "context")

  protocol Filter: Sendable { var label: String { get } }
  struct Named: Filter { let label: String }

  private func register(_ label: String, in context: UDIContext, named name: UDIName? = nil) {
    context.register((any Filter).self, named: name, lifetime: .context) { () async in
      await Task.yield()
      return Named(label: label)
    }
  }

  /// Two registrations with one key, in contexts of their own.
  @Test func eachFromItsOwnContext() async throws {
    for tag in ["spelling", "grammar"] { register(tag, in: try context.makeChild(tag: tag)) }
    #expect(try await context.obtainAll((any Filter).self).map(\.label) == ["spelling", "grammar"])
    for (registration, tag) in zip(context.registrations(of: (any Filter).self), ["spelling", "grammar"]) {
      #expect(try await registration.obtain().label == tag)
    }
    #expect(context.linkAll((any Filter).self).count == 2)
  }

  final class Bound: Filter { let label = "bound" }

  @Test func theOrderIsThatOfLinkAll() async throws {
    let child = try context.makeChild(tag: "child")
    register("below", in: child, named: "n")
    register("one", in: context, named: "one")
    context.register((any Filter).self) { Named(label: "two") }
    let bound = Bound()
    context.bind(bound, as: (any Filter).self, named: "bound")
    context.provide(Named(label: "value"), as: (any Filter).self, named: "value")
    let all = try await context.obtainAll((any Filter).self)
    #expect(all.map(\.label) == ["one", "two", "bound", "value", "below"])
    #expect(context.linkAll((any Filter).self).map(\.label) == all.map(\.label))
    #expect(try await child.obtainAll((any Filter).self, search: .local).map(\.label) == ["below"])
    #expect(try await context.obtainAll((any Service).self).isEmpty)
  }

  @Test func inScopes() async throws {
    context.register((any Filter).self, lifetime: .scope) { scope async in Named(label: scope.tag) }
    for tag in ["a", "b"] {
      _ = try await context.withScope(tag: tag) { scope async throws in
        register("own", in: scope)
        #expect(try await scope.obtainAll((any Filter).self).map(\.label) == ["own", tag])
      }
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtainAll((any Filter).self) }
    #expect(error?.cause == .noScope(kind: nil, present: []))
  }

  @Test func whatFailsIsThrown() async throws {
    register("one", in: context)
    context.register((any Filter).self, named: "nil") { () async -> (any Filter)? in nil }
    context.register((any Filter).self, named: "arguments") { (_, label: String) in Named(label: label) }
    #expect(try await context.obtainAll((any Filter).self).map(\.label) == ["one"])
    context.register((any Filter).self, named: "broken") { () async throws -> any Filter in throw OutOfOrder() }
    await #expect(throws: OutOfOrder.self) { try await context.obtainAll((any Filter).self) }
    context.register((any Filter).self, named: "broken") { context in
      Named(label: try context.require(Named.self).label)
    }
    let member = Member().attached(to: context)
    let error = await #expect(throws: UDILinkError.self) { try await member.obtainAll((any Filter).self) }
    #expect(error?.chain.map(\.isProvider) == [false, true, false] && error?.chain[1].name == "broken")
  }

  /// The mistake for which `obtainAll` is there: a timeline without filters.
  @Test func aTimelineOverADatabase() async throws {
    struct Database: Sendable {}
    struct Timeline: Sendable {
      let filters: [any Filter]
      init(_ filters: [any Filter]) { self.filters = filters }
    }
    context.register(Database.self, lifetime: .context) { () async in Database() }
    for name in ["a", "b"] {
      context.register(
        (any Filter).self, named: UDIName(name), lifetime: .context, using: { (_: Database) in Named(label: name) })
    }
    context.register(Timeline.self, lifetime: .context) { context in Timeline(context.linkAll((any Filter).self)) }
    let line = #line - 1
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Timeline.self) }
    #expect(error?.chain.first?.line == line && error?.advice?.contains("`obtainAll`") == true)
    context.register(Timeline.self, lifetime: .context, replaces: true) { context in
      Timeline(try await context.obtainAll((any Filter).self))
    }
    #expect(try await context.obtain(Timeline.self).filters.map(\.label) == ["a", "b"])
  }

  final class Loner {}

  @MainActor @Test func onTheMainActor() async throws {
    context.register(Loner.self, lifetime: .context) { () async in Loner() }
    context.register(Loner.self, named: "other", lifetime: .context) { Loner() }
    let all = try await context.obtainAll(Loner.self)
    #expect(all.count == 2 && all[0] === context.link(Loner.self))
    #expect(try await context.registrations(of: Loner.self)[1].obtain() === all[1])
  }

  @Test func aRegistrationThatIsTakenBack() async throws {
    let registration = context.register((any Filter).self) { () async in Named(label: "gone") }
    registration.unregister()
    let error = await #expect(throws: UDILinkError.self) { try await registration.obtain() }
    #expect(error?.cause == .notRegistered)
    let bound = Bound()
    context.bind(bound, as: (any Filter).self)
    #expect(try await context.registrations(of: (any Filter).self)[0].obtain().label == "bound")
  }
}
