import Dispatch
import Testing
import UDI

/// Its initialiser stops the program if it does not run on the main actor.
@MainActor private final class Panel {
  init() { MainActor.preconditionIsolated() }
  init(number: Int) { MainActor.preconditionIsolated() }
}

/// The same, but without an annotation. It belongs to the main actor only if that is the default isolation.
private final class Form: Sendable {
  let number: Int
  let isMadeOnMainActor: Bool
  init(number: Int) {
    self.number = number
    isMadeOnMainActor = DispatchQueue.getSpecific(key: mainQueueMark) != nil
  }
}

/// A factory does not leave the actor that its closure belongs to, in any kind of module. This file, like all files in
/// this folder, is compiled in each kind.
@Suite nonisolated struct FactoryIsolationTests {
  private static let names: [UDIName] = ["context", "none", "argument", "completed", "using", "said"]

  @MainActor private static func register(in context: UDIContext, _ lifetime: UDILifetime) {
    context.provide(5)
    context.register(Panel.self, named: "context", lifetime: lifetime) { _ in Panel() }
    context.register(Panel.self, named: "none", lifetime: lifetime) { Panel() }
    context.register(Panel.self, named: "argument", lifetime: lifetime) { (_, number: Int) in Panel(number: number) }
    context.register(Panel.self, named: "completed", lifetime: lifetime) {
      Panel()
    }.onCreate { _, _ in
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
      // And the instance is made where its initialiser may run.
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
      context.provide(Form(number: 5))
      context.rules(for: Form.self).inject { _, _ in MainActor.preconditionIsolated() }
    }
    let form = try #require(await MainActor.run { context.link(Form.self) })
    let applied = await Task.detached { context.inject(into: form) }.value
    #expect(applied == 0)
    #expect(await MainActor.run { context.inject(into: form) } == 1)
  }

  @Test func aFunctionThatMayBeCalledAnywhereIsTheMainActorsWhereItIsRegistered() async {
    let context = UDIContext(tag: "App")
    await MainActor.run {
      context.register(Int.self, Self.number)
      context.register(Int.self, named: "anywhere", isolation: nil, Self.number)
    }
    #expect(await Task.detached { withReporter(.silent) { context.link(Int.self) == nil } }.value)
    #expect(await Task.detached { context.link(Int.self, named: "anywhere") }.value == 5)
  }

  @Sendable private static func number() -> Int { 5 }
}

private let mainQueueMark: DispatchSpecificKey<Void> = {
  let key = DispatchSpecificKey<Void>()
  DispatchQueue.main.setSpecific(key: key, value: ())
  return key
}()

#if MAIN_ACTOR_BY_DEFAULT

  extension FactoryIsolationTests {
    /// If functions and types belong to the main actor only by default, as in an app template's module, references to
    /// them do not say so.
    @Test func whatBelongsToTheMainActorByDefaultStaysThere() async throws {
      let context = UDIContext(tag: "App")
      await MainActor.run { registerByDefault(in: context) }
      let elsewhere = await Task.detached {
        withReporter(.silent) {
          (1...4).map { context.link(Form.self, named: UDIName($0)) } + [context.link(Form.self, named: 5, with: 5)]
        }
      }.value
      for form in elsewhere { #expect(form == nil) }
      for number in 1...4 {
        let form = try await context.obtain(Form.self, named: UDIName(number))
        #expect(form.isMadeOnMainActor)
      }
      let form = try await context.obtain(Form.self, named: 1)
      let applied = await Task.detached { context.inject(into: form) }.value
      #expect(applied == 0)
    }
  }

  private func makeForm() -> Form { Form(number: 1) }
  private func makeFormIn(_ context: UDIContext) -> Form { Form(number: 1) }
  private func makeNumberedForm(_ context: UDIContext, _ number: Int) -> Form { Form(number: number) }
  private func provideForm(_ context: UDIContext) { context.register(Form.self, named: 4, { Form(number: 4) }) }
  private func fill(_ form: Form, _ context: UDIContext) {}

  private func registerByDefault(in context: UDIContext) {
    context.provide(5)
    context.register(Form.self, named: 1, makeForm)
    context.register(Form.self, named: 2, makeFormIn)
    #if swift(>=6)
      context.register(Form.self, named: 3, using: Form.init(number:))
    #else
      // The compiler warns about the initialiser, for no reason, unless this function says which actor it belongs to.
      context.register(Form.self, named: 3) { context in try Form(number: context.require(Int.self)) }
    #endif
    context.register(Form.self, named: 5, makeNumberedForm)
    provideForm(context)
    context.rules(for: Form.self).inject(fill)
  }

#endif
