import Testing
import TreeModel
import UDI

/// In which order what a context owns is closed.
@Suite(.unlessItHangs) struct ClosingOrderTests {
  private let context = UDIContext(tag: "context")
  private let journal = Journal()

  private func register(
    _ name: String, lifetime: UDILifetime = .context, in place: UDIContext? = nil, madeOf parts: [String] = []
  ) {
    let journal = journal
    (place ?? context).register((any Alpha).self, named: UDIName(name), lifetime: lifetime) { context in
      Made(name, parts: try parts.map { try context.require((any Alpha).self, named: UDIName($0)) })
    }.onClose { _ in
      journal.add(name)
    }
  }

  private func closed() async throws -> String {
    try await context.close()
    return journal.all.joined()
  }

  @Test func whatWasRegisteredLaterIsClosedFirst() async throws {
    for name in ["a", "b", "c"] { register(name) }
    for name in ["b", "c", "a"] { _ = context.link((any Alpha).self, named: UDIName(name)) }
    #expect(try await closed() == "cba")
  }

  /// Each of all orders in which three can be made, of which one is made with the help of another.
  @Test(arguments: ["abc", "acb", "bac", "bca", "cab", "cba"])
  func whatWasMadeWithSomethingIsClosedBeforeIt(_ order: String) async throws {
    register("a", madeOf: ["c"])
    register("b")
    register("c")
    for name in order { _ = context.link((any Alpha).self, named: UDIName("\(name)")) }
    #expect(try await closed() == "bac")
  }

  /// After the reset, "a" is made without the help of "b".
  @Test func whoHelpedIsForgottenWithTheInstance() async throws {
    let (journal, runs) = (journal, Tally())
    context.register((any Alpha).self, named: "a") { context in
      runs.add()
      return Made("a", parts: runs.count == 1 ? [try context.require((any Alpha).self, named: "b")] : [])
    }.onClose { _ in
      journal.add("a")
    }
    register("b")
    _ = context.link((any Alpha).self, named: "a")
    let (_, reports) = MisuseLog.during { context.reset() }
    #expect(reports.map(\.kind) == [.unclosed, .unclosed])
    for name in ["a", "b"] { _ = context.link((any Alpha).self, named: UDIName(name)) }
    #expect(try await closed() == "ba")
  }

  /// What stands between has nothing to close, is made anew each time, is found by another type, or by `linkAll`.
  @Test(arguments: 0..<5) func helpReachesThrough(_ way: Int) async throws {
    let journal = journal
    context.register((any Gamma).self, lifetime: .context) { context in
      Made(parts: [try context.require((any Beta).self)])
    }.onClose { _ in
      journal.add("last")
    }
    if way == 0 || way == 1 {
      context.register((any Beta).self, lifetime: way == 0 ? .context : .unique) { context in
        Made(parts: [try context.require((any Alpha).self, named: "first")])
      }
    }
    register("first")
    switch way {
    case 2: context.registrations(of: (any Alpha).self)[0].implements((any Beta).self)
    case 3:
      context.register((any Beta).self, lifetime: .weak) { context in
        Made(parts: context.linkAll((any Alpha).self))
      }
    case 4:
      context.register((any Beta).self) { context in
        await Task.yield()
        return Made(parts: [try await context.obtain((any Alpha).self, named: "first")])
      }
      context.register((any Gamma).self, lifetime: .context, replaces: true) { context in
        Made(parts: [try await context.obtain((any Beta).self)])
      }.onClose { _ in
        journal.add("last")
      }
      // Registered later now, so the other way round it would be no test.
      register("first")
    default: break
    }
    _ = context.link((any Alpha).self, named: "first")
    _ = try await context.obtain((any Gamma).self)
    #expect(try await closed() == "lastfirst")
  }

  /// What stood between has been taken back meanwhile, or replaced. What was made with it may still use it.
  @Test(arguments: [UDILifetime.context, .weak], [false, true])
  func helpReachesThroughWhatIsGone(_ lifetime: UDILifetime, _ isReplaced: Bool) async throws {
    let journal = journal
    context.register((any Gamma).self, lifetime: .context) { context in
      Made(parts: [try context.require((any Beta).self)])
    }.onClose { _ in
      journal.add("last")
    }
    context.register((any Beta).self, lifetime: lifetime) { context in
      Made(parts: [try context.require((any Alpha).self, named: "first")])
    }
    register("first")
    _ = try context.require((any Gamma).self)
    context.unregister((any Beta).self)
    if isReplaced { context.register((any Beta).self) { Made() } }
    #expect(try await closed() == "lastfirst")
  }

  @Test func inAScopeToo() async throws {
    register("a", lifetime: .scope, madeOf: ["b"])
    register("b", lifetime: .scope, madeOf: ["c"])
    register("c", lifetime: .scope)
    register("d", lifetime: .scope)
    try await context.withScope(tag: "scope") { scope in
      for name in ["d", "c", "a"] { _ = try scope.require((any Alpha).self, named: UDIName(name)) }
    }
    #expect(journal.all.joined() == "dabc")
  }

  /// After a reset, only what was made since counts.
  @Test func aResetForgetsWhoHelped() async throws {
    register("a", madeOf: ["b"])
    register("b")
    _ = context.link((any Alpha).self, named: "a")
    try withReporter(.silent) {
      context.reset()
      context.register((any Alpha).self, named: "a", lifetime: .context, replaces: true) { [journal] in
        journal.add("made ")
        return Made()
      }.onClose { [journal] _ in
        journal.add("a")
      }
      for name in ["a", "b"] { _ = try context.require((any Alpha).self, named: UDIName(name)) }
    }
    #expect(try await closed() == "made ab")
  }

  /// Two that refer to each other are closed by their registrations.
  @Test func acrossACircle() async throws {
    let journal = journal
    register("a")
    context.register((any Beta).self, lifetime: .context) { context in
      Made(parts: [try context.require((any Alpha).self, named: "a")])
    }.onCreate { context, _ in
      _ = context.link((any Alpha).self, named: "a")
    }.onClose { _ in
      journal.add("b")
    }
    _ = context.link((any Beta).self)
    #expect(try await closed() == "ba")
  }

  /// Services that are made side by side, and as long as it takes, are closed in one order.
  @Test func aThousandStopsHaveOneOrder() async throws {
    let names = ["pool", "cache", "queue", "mailer", "web"]
    let parts = ["cache": ["pool"], "mailer": ["queue"], "web": ["mailer", "cache"]]
    var orders: Set<[String]> = []
    var random = SplitMix(seed: 37)
    for _ in 0..<(isUnderThreadSanitizer ? 50 : 1000) {
      let (root, journal) = (UDIContext(tag: "root"), Journal())
      for name in ["mailer", "web", "pool", "queue", "cache"] {
        let delay = Int.random(in: 0..<20, using: &random)
        root.register((any Alpha).self, named: UDIName(name), lifetime: .context) { context in
          for _ in 0..<delay { await Task.yield() }
          var made: [any Sendable] = []
          for part in parts[name] ?? [] {
            made.append(try await context.obtain((any Alpha).self, named: UDIName(part)))
          }
          return Made(name, parts: made)
        }.onClose { _ in
          journal.add(name)
        }
      }
      try await root.warmUp()
      try await root.close()
      orders.insert(journal.all)
    }
    #expect(orders == [["web", "cache", "pool", "mailer", "queue"]] && names.count == orders.first?.count)
  }
}
