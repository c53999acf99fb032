import Testing

@testable import UDI

/// What `obtain` needs further in is made on its own actor, however deep, and in whatever order it was registered.
@Suite(.unlessItHangs, .silent) struct ObtainingElsewhereTests {
  let context = UDIContext(tag: "context")

  @globalActor private actor Daemon { static let shared = Daemon() }

  @MainActor private final class Coordinator { init() { MainActor.assertIsolated() } }
  @Daemon private final class Sync {
    let coordinator: Coordinator
    init(coordinator: Coordinator) {
      Daemon.assertIsolated()
      self.coordinator = coordinator
    }
  }
  private struct Links: Sendable {
    let sync: Sync
    let coordinator: Coordinator
    init(sync: Sync, coordinator: Coordinator) { (self.sync, self.coordinator) = (sync, coordinator) }
  }
  /// An asynchronous initialiser above all of them.
  private struct Server: Sendable {
    let links: Links
    init(links: Links) async { self.links = links }
  }
  /// And one of the main actor again.
  @MainActor private final class Window: Sendable {
    let server: Server
    init(server: Server) { self.server = server }
  }

  @Daemon private func coordinator(of sync: Sync) -> Coordinator { sync.coordinator }

  /// Registers everything, in one order or the other.
  private func register(_ lifetime: UDILifetime, inReverse: Bool) -> Tally {
    let (calls, context) = (Tally(), context)
    var steps: [() -> Void] = [
      {
        context.register(Coordinator.self, lifetime: lifetime) { @MainActor in
          calls.add()
          return Coordinator()
        }
      },
      { context.register(Sync.self, lifetime: lifetime, using: Sync.init(coordinator:)) },
      { context.register(Links.self, lifetime: lifetime, using: Links.init(sync:coordinator:)) },
      { context.register(Server.self, lifetime: lifetime, using: Server.init(links:)) },
      { context.register(Window.self, lifetime: lifetime, using: Window.init(server:)) },
    ]
    if inReverse { steps.reverse() }
    for step in steps { step() }
    return calls
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context], [false, true])
  func actorsBelowEachOther(_ lifetime: UDILifetime, _ inReverse: Bool) async throws {
    let calls = register(lifetime, inReverse: inReverse)
    let links = try await context.obtain(Window.self).server.links
    let isOne = await links.coordinator === coordinator(of: links.sync)
    #expect(isOne == (lifetime != .unique) && calls.count == (lifetime == .unique ? 2 : 1))
  }

  @Test(arguments: [false, true]) func warmUp(_ inReverse: Bool) async throws {
    let calls = register(.context, inReverse: inReverse)
    try await context.warmUp()
    #expect(context.link(Window.self) != nil && context.link(Links.self) != nil && calls.count == 1)
  }

  @MainActor @Test func fromTheMainActor() async throws {
    let calls = register(.context, inReverse: true)
    let window = try await context.obtain(Window.self)
    #expect(window.server.links.coordinator === context.link(Coordinator.self) && calls.count == 1)
  }

  /// The parameter can be made where the task asks, but not where the initialiser runs.
  @MainActor @Test(arguments: [UDILifetime.unique, .context]) func whatIsMadeHereForAnotherActor(
    _ lifetime: UDILifetime
  ) async throws {
    context.register(Coordinator.self, lifetime: .context) { @MainActor in Coordinator() }
    context.register(Sync.self, lifetime: lifetime, using: Sync.init(coordinator:))
    let sync = try await context.obtain(Sync.self)
    #expect(await coordinator(of: sync) === context.link(Coordinator.self))
  }

  /// A closure that needs something of another actor is told how to be registered.
  @Test func aClosureOfAnotherActor() async throws {
    context.register(Coordinator.self, lifetime: .context) { @MainActor in Coordinator() }
    context.register(Sync.self, lifetime: .context) { @Daemon context in
      Sync(coordinator: try context.require(Coordinator.self))
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain(Sync.self) }
    #expect(error?.cause == .isolatedElsewhere("the main actor"), "\(error?.description ?? "")")
    #expect(error?.advice?.hasPrefix("Change the registration of") == true)
    // Once that is made, it finds it; and a warm-up makes both, in whatever order.
    try await context.warmUp()
    #expect(context.link(Sync.self) != nil)
  }
}
