import Testing
import UDI

/// Its initialiser stops the program anywhere but on the main actor.
@MainActor private final class Panel {
  init() { MainActor.preconditionIsolated() }
  init(number: Int) { MainActor.preconditionIsolated() }
}

/// The same without saying so where the main actor is the default isolation; elsewhere it may be made anywhere.
private final class Form: Sendable {
  let number: Int
  init(number: Int) { self.number = number }
}

/// A factory does not leave the actor that its closure belongs to, in any kind of module: this file, as all in this folder, is compiled in
/// each.
@Suite nonisolated struct FactoryIsolationTests {
  private static let names: [UDIName] = ["context", "none", "argument", "completed", "using", "said"]

  @MainActor private static func register(in context: UDIContext, _ lifetime: UDILifetime) {
    context.provide(5)
    context.register(Panel.self, named: "context", lifetime: lifetime) { _ in Panel() }
    context.register(Panel.self, named: "none", lifetime: lifetime) { Panel() }
    context.register(Panel.self, named: "argument", lifetime: lifetime) { (_, number: Int) in Panel(number: number) }
    context.register(Panel.self, named: "completed", lifetime: lifetime) {
      Panel()
    } onCreate: { _, _ in
      MainActor.preconditionIsolated()
    }
    context.register(Panel.self, named: "using", lifetime: lifetime, using: Panel.init(number:))
  }

  private static func registerElsewhere(in context: UDIContext, _ lifetime: UDILifetime) {
    context.register(Panel.self, named: "said", lifetime: lifetime) { @MainActor in Panel() }
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context])
  func aFactoryStaysOnTheMainActor(_ lifetime: UDILifetime) async throws {
    let context = UDIContext(tag: "App")
    await Self.register(in: context, lifetime)
    Self.registerElsewhere(in: context, lifetime)
    for name in Self.names {
      let isMadeElsewhere = await Task.detached {
        withReporter(.silent) {
          context.link(Panel.self, named: name) != nil || context.link(Panel.self, named: name, with: 5) != nil
        }
      }.value
      #expect(!isMadeElsewhere, "\(name)")
      // And it is made where it may be.
      await MainActor.run {
        if name == "argument" {
          #expect(context.link(Panel.self, named: name, with: 5) != nil)
        } else {
          #expect(context.link(Panel.self, named: name) != nil, "\(name)")
        }
      }
      if name == "argument" {
        _ = try await context.obtain(Panel.self, named: name, with: 5)
      } else {
        _ = try await context.obtain(Panel.self, named: name)
      }
    }
  }

  @Test func blocksStayOnTheMainActor() async throws {
    let context = UDIContext(tag: "App")
    await MainActor.run {
      context.setUp { context in
        MainActor.preconditionIsolated()
        context.provide(Form(number: 5))
      }
      context.rules(for: Form.self).inject { _, _ in MainActor.preconditionIsolated() }
    }
    let found = await Task.detached { context.link(Form.self) }.value
    #expect(found == nil)
    let form = try #require(await MainActor.run { context.link(Form.self) })
    let applied = await Task.detached { context.inject(into: form) }.value
    #expect(applied == 0)
    #expect(await MainActor.run { context.inject(into: form) } == 1)
  }
}
