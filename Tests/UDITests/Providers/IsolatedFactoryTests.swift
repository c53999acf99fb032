import Dispatch
import Testing
import UDI

@globalActor private actor Vault {
  static let shared = Vault()
}
@globalActor private actor Attic {
  static let shared = Attic()
}
private protocol Numbered: AnyObject, Sendable {}
@Vault private final class Safe: Numbered {
  let number: Int
  init(_ number: Int = 0) {
    Vault.preconditionIsolated()
    self.number = number
  }
}
@Vault private final class Lock2 {
  let safe: Safe
  init(safe: Safe) { self.safe = safe }
}
@Attic private final class Trunk {
  init() { Attic.preconditionIsolated() }
}
/// Not `Sendable`; notes where it dies.
@Vault private final class Deed {
  nonisolated let onDeath: @Sendable (Bool) -> Void
  init(_ onDeath: @escaping @Sendable (Bool) -> Void) { self.onDeath = onDeath }
}
private final class Mortal {
  let onDeath: () -> Void
  init(_ onDeath: @escaping () -> Void) { self.onDeath = onDeath }
  deinit { onDeath() }
}
@Vault private func registerSafe(_ context: UDIContext, _ lifetime: UDILifetime = .context) {
  context.register(Safe.self, lifetime: lifetime) { Safe() }
}

/// A factory runs on the actor that its closure belongs to, and nowhere else.
@Suite struct IsolatedFactoryTests {
  let context = UDIContext(tag: "context")

  @Test func aClosureBelongsToTheActorInWhoseCodeItIsWritten() async throws {
    await registerSafe(context)
    let (missed, misuse) = MisuseLog.during { context.link(Safe.self) == nil }
    #expect(missed && misuse.map(\.kind) == [.notMade])
    #expect(
      misuse.first?.message.contains("belongs to the actor UDITests.(private).Vault. This lookup ran elsewhere") == true
    )
    #expect(misuse.first?.message.contains("Await `obtain`") == true)
    let error = #expect(throws: UDILinkError.self) { try context.require(Safe.self) }
    #expect(error?.cause == .isolatedElsewhere("the actor UDITests.(private).Vault"))
    let safe = try await context.obtain(Safe.self)
    // It is kept, and found from anywhere.
    #expect(context.link(Safe.self) === safe)
    #expect(try await context.obtain(Safe.self) === safe)
  }

  @Test func obtainMakesOnTheActorUnderEveryLifetime() async throws {
    for lifetime in [UDILifetime.unique, .graph, .weak, .context, UDILifetime("own")] {
      await registerSafe(context, lifetime)
      #expect(try await context.obtain(Safe.self).number == 0)
    }
  }

  @Test func obtainGivesWhatIsThere() async throws {
    let plain = Plain()
    context.bind(plain, as: (any Service).self)
    #expect(try await context.obtain((any Service).self) === plain)
    context.register(Int.self) { 5 }
    #expect(try await context.obtain(Int.self) == 5)
    context.register(String.self, named: "n") { (_, number: Int, text: String) in "\(number)\(text)" }
    #expect(try await context.obtain(String.self, named: "n", with: 5, "x") == "5x")
    await #expect(throws: UDILinkError.self) { try await context.obtain(Double.self) }
    context.register(Double.self) { throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await context.obtain(Double.self) }
    let child = try context.makeChild(tag: "child")
    await #expect(throws: UDILinkError.self) { try await child.obtain(Int.self, search: .local) }
  }

  @Test func anObjectObtainsAsItsContextDoes() async throws {
    await registerSafe(context)
    let member = Member().attached(to: context)
    let safe = try await member.obtain(Safe.self)
    #expect(context.link(Safe.self) === safe)
    context.register(String.self) { (_, number: Int) in "\(number)" }
    #expect(try await member.obtain(String.self, with: 5) == "5")
    let error = await #expect(throws: UDILinkError.self) { try await member.obtain(Double.self) }
    #expect(error?.chain.first?.isProvider == false)
  }

  /// Factories of one actor find each other's instances. Instances of another actor have to be made before.
  @Test func factoriesOfOneActorFindEachOther() async throws {
    await registerSafe(context)
    await register(in: context)
    let lock = try await context.obtain(Lock2.self)
    #expect(context.link(Safe.self) === lock.safe)
    context.register(Trunk.self, lifetime: .context) { @Attic in Trunk() }
    context.register([Trunk].self) { @Vault context in [try context.require(Trunk.self)] }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain([Trunk].self) }
    #expect(error?.chain.map(\.isProvider) == [true, false])
    let trunk = try await context.obtain(Trunk.self)
    #expect(try await context.obtain([Trunk].self).first === trunk)
    @Vault func register(in context: UDIContext) { context.register(using: Lock2.init(safe:)) }
  }

  /// The actor is noted only while the thread makes; not afterwards, and not on the thread that asked.
  @Test func theThreadForgetsTheActorWhenItHasMade() async throws {
    await registerSafe(context, .unique)
    let context = context
    for _ in 0..<50 {
      _ = try await context.obtain(Safe.self)
      #expect(MisuseLog.during { context.link(Safe.self) == nil }.0)
      await Task.detached { #expect(MisuseLog.during { context.link(Safe.self) == nil }.0) }.value
    }
  }

  @Test func onCreateRunsOnTheSameActor() async throws {
    let ran = Tally()
    context.register(Safe.self) { @Vault in
      Safe()
    }.onCreate { @Vault _, _ in
      Vault.preconditionIsolated()
      ran.add()
    }
    // One of the two closures is enough.
    context.register(Int.self) {
      5
    }.onCreate { @Vault _, _ in
      Vault.preconditionIsolated()
      ran.add()
    }
    _ = try await context.obtain(Safe.self)
    #expect(MisuseLog.during { context.link(Int.self) == nil }.0)
    #expect(try await context.obtain(Int.self) == 5 && ran.count == 2)
  }

  /// A closure of an actor may capture what is not `Sendable`.
  @Test func aClosureIsReleasedOnItsActor() async {
    await withCheckedContinuation { continuation in
      let context = context
      Task { @Vault in
        let mortal = Mortal {
          Vault.preconditionIsolated()
          continuation.resume()
        }
        context.register(Int.self) { @Vault in
          _ = mortal
          return 1
        }
        Task.detached { context.unregister(Int.self) }
      }
    }
  }

  /// The closures are called without the compiler's check, so each shape is called once here.
  @Test func everyFormKeepsItsIsolation() async throws {
    let names: [UDIName] = ["none", "context", "one", "two", "completed", "using"]
    context.provide(3)
    context.register(Safe.self, named: "none") { @Vault in Safe(3) }
    context.register(Safe.self, named: "context") { @Vault context in Safe(try context.require(Int.self)) }
    await register(in: context)
    context.register(Safe.self, named: "using", using: Safe.init(_:))
    for name in names {
      let safe: Safe
      switch name {
      case "one", "completed": safe = try await context.obtain(Safe.self, named: name, with: 3)
      case "two": safe = try await context.obtain(Safe.self, named: name, with: 1, 2)
      default: safe = try await context.obtain(Safe.self, named: name)
      }
      #expect(safe.number == 3)
      let (missed, misuse) = MisuseLog.during { context.link(Safe.self, named: name, with: 1, 2) == nil }
      #expect(missed && misuse.count == 1)
    }
    @Vault func register(in context: UDIContext) {
      context.register(Safe.self, named: "one") { (_, number: Int) in Safe(number) }
      context.register(Safe.self, named: "two") { (_, number: Int, more: Int) in Safe(number + more) }
      context.register(Safe.self, named: "completed") { (_, number: Int) in
        Safe(number)
      }.onCreate { (_, safe: Safe) in
        Vault.preconditionIsolated()
        #expect(safe.number == 3)
      }
    }
  }

  // MARK: Other types

  @Test func anotherTypeIsMadeOnTheActorToo() async throws {
    await registerSafe(context)
    context.registrations(of: Safe.self).first?.implements((any Numbered).self)
    #expect(MisuseLog.during { context.link((any Numbered).self) == nil }.0)
    let numbered = try await context.obtain((any Numbered).self)
    // It is kept, and found from anywhere, under both types.
    #expect(context.link((any Numbered).self) === numbered && context.link(Safe.self) === numbered)
  }

  @Test func twoActorsForOneInstanceAreRefused() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      UDIContext(tag: "x").register(Safe.self) { @Vault in Safe() }.implements(AnyObject.self)
    }
    #expect(errorOutput(result).contains("belong to two actors"))
    let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      UDIContext(tag: "x").register(Safe.self) { @Vault in
        Safe()
      }.onCreate { @Attic _, _ in
      }
    }
    #expect(errorOutput(other).contains("belong to two actors"))
  }
}

private func errorOutput(_ result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
