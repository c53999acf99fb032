import Foundation
import Testing
import UDI
import UDIInspector

/// What is recorded about who needs what, as snapshots, diagrams and explanations show it.
struct UseTests {
  let root = UDIContext(tag: "App")
  let shop: UDIContext

  init() throws { shop = try root.makeChild(tag: "Shop") }

  private func text(_ context: UDIContext) -> [String] {
    let snapshot = context.snapshot()
    return snapshot.uses.map { use in
      let dependent = snapshot.dependents[use.dependent]
      let found = use.entry.map { entry in
        let context = snapshot.contexts[entry.context]
        return "\(context.tag): \(context.entries[entry.index])"
      }
      return "\(dependent) -> \(found ?? use.fullPath?.joined(separator: "/") ?? "gone")"
    }
  }

  private func places(of dependent: UDISnapshot.Dependent) -> [String] {
    dependent.entries.map { "\($0.context) \($0.index)" }
  }

  @Test("A factory that looks something up in its context: what it makes needs that")
  func factories() throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    root.register((any Alpha).self, lifetime: .context) { context in
      Made(parts: [try context.require((any Service).self), try context.require((any Beta).self)])
    }
    root.register((any Beta).self, named: nil, lifetime: .unique) { context in
      Made(parts: [context.link((any Service).self)!])
    }
    _ = try shop.require((any Alpha).self)
    #expect(
      text(root) == [
        "UDITests.Alpha -> App: UDITests.Service: Plain",
        "UDITests.Alpha -> App: UDITests.Beta: not made, unique",
        "UDITests.Beta -> App: UDITests.Service: Plain",
      ])
    let snapshot = root.snapshot()
    #expect(snapshot.dependents.map(\.isProvider) == [true, true])
    #expect(places(of: snapshot.dependents[0]) == ["0 1"])
    #expect(snapshot.dependents[0].fullPath == ["App"] && snapshot.dependents[0].context == 0)
    #expect(snapshot.contexts[0].entries.dropFirst().allSatisfy { ($0.lastDuration ?? .seconds(-1)) >= .zero })
    withExtendedLifetime(plain) {}
  }

  @Test("A hit counts each time, also of what is kept, and whichever verb it is")
  func kinds() throws {
    root.register((any Alpha).self, lifetime: .context) { Made() }
    root.register((any Beta).self, named: "b", lifetime: .context) { (_: UDIContext, _: Int) in Made() }
    root.register(Int.self, lifetime: .context) { 7 }
    _ = (root.link((any Alpha).self), root.link(Int.self))
    root.register((any Gamma).self) { context in
      Made(parts: [
        context.link((any Alpha).self)!, context.link(Int.self)!,
        context.link((any Beta).self, named: "b", with: 1)!,
      ])
    }
    _ = root.link((any Gamma).self)
    #expect(
      text(root) == [
        "UDITests.Gamma -> App: UDITests.Alpha: made, context",
        "UDITests.Gamma -> App: Swift.Int: made, context",
        "UDITests.Gamma -> App: UDITests.Beta named \"b\": not made, context",
      ])
    #expect(root.snapshot().uses[2].name == "b")
  }

  @Test("The parameters of an initialiser, and what `onCreate` looks up")
  func usingAndCompletion() throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    root.register((any Beta).self, lifetime: .context) { Made() }
    root.register(
      (any Alpha).self, using: { (service: any Service) in Made(parts: [service]) }
    )
    .onCreate { context, _ in _ = context.link((any Beta).self) }
    _ = shop.link((any Alpha).self)
    #expect(
      text(root) == [
        "UDITests.Alpha -> App: UDITests.Service: Plain", "UDITests.Alpha -> App: UDITests.Beta: made, context",
      ])
    withExtendedLifetime(plain) {}
  }

  final class Screen: UDIObject {
    let _attachedContext = UDIAttachment()
    @Linked var alpha: (any Alpha)?
    @Linked(keeps: .never) var service: (any Service)?
    @Linked(keeps: .weakly) var beta: (any Beta)?
    func didAttachContext() {}
  }

  @Test("An object that looks something up: with its properties and its verbs")
  func objects() throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    root.register((any Alpha).self, lifetime: .context) { Made() }
    root.register((any Beta).self, lifetime: .context) { Made() }
    root.register((any Gamma).self, lifetime: .context) { Made() }
    root.register((any Other).self) { (_: UDIContext, _: Int) in Made() }
    let screen = Screen().attached(to: shop)
    _ = (screen.alpha, screen.service, screen.beta)
    _ = try screen.require((any Gamma).self)
    _ = screen.link((any Other).self, with: 3)
    // Again, for what is found at once by now.
    _ = (screen.alpha, screen.service, screen.beta, try screen.require((any Gamma).self))
    let name = "UDITests.UseTests.Screen"
    #expect(
      text(root) == [
        "\(name) -> App: UDITests.Alpha: made, context", "\(name) -> App: UDITests.Service: Plain",
        "\(name) -> App: UDITests.Beta: made, context", "\(name) -> App: UDITests.Gamma: made, context",
        "\(name) -> App: UDITests.Other: not made, unique",
      ])
    let dependent = try #require(root.snapshot().dependents.first)
    #expect(!dependent.isProvider && dependent.fullPath == ["App", "Shop"] && dependent.context == 1)
    #expect(dependent.entries.isEmpty)
    // Only what is above: the path says where.
    #expect(text(shop).first == "\(name) -> App")
    #expect(shop.snapshot().uses.allSatisfy { $0.entry == nil && $0.fullPath == ["App"] })
    withExtendedLifetime((plain, screen)) {}
  }

  @MainActor @Test("An object that is bound, or that a provider keeps, is found among the entries")
  func objectsThatAreListed() throws {
    root.register((any Alpha).self, lifetime: .context) { Made() }
    let member = Member { $0.bind($0, as: (any Service).self) }
    member.attachedContext = shop
    _ = member.linkInLine((any Alpha).self)
    shop.register(Screen.self, lifetime: .context) { Screen() }
    _ = shop.link(Screen.self)?.alpha
    let snapshot = root.snapshot()
    #expect(snapshot.dependents.map(places) == [["1 0"], ["1 1"]])
    #expect(snapshot.dependents.map(\.isProvider) == [false, false])
  }

  @Test("An object that is attached to nothing looks up in AppContext")
  func unattached() {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    let screen = Screen()
    withAppContext(root) { _ = screen.service }
    _ = withAppContext(root) { screen.linkInLine((any Service).self) }
    #expect(text(root) == ["UDITests.UseTests.Screen -> App: UDITests.Service: Plain"])
    #expect(root.snapshot().dependents.first?.fullPath == [])
    withExtendedLifetime((plain, screen)) {}
  }

  @Test("What an object looks up again replaces what it found before; what is gone is marked")
  func again() throws {
    var first: Plain? = Plain()
    root.bind(first!, as: (any Service).self)
    let screen = Screen().attached(to: shop)
    _ = screen.service
    #expect(text(root) == ["UDITests.UseTests.Screen -> App: UDITests.Service: Plain"])
    first = nil
    #expect(root.link((any Service).self) == nil)
    #expect(text(root) == ["UDITests.UseTests.Screen -> gone"])
    let second = Plain()
    shop.bind(second, as: (any Service).self)
    #expect(text(root) == ["UDITests.UseTests.Screen -> gone"])
    _ = screen.service
    #expect(text(root) == ["UDITests.UseTests.Screen -> Shop: UDITests.Service: Plain"])
    withExtendedLifetime((second, screen)) {}
  }

  @Test("What is gone is listed in the same order each time")
  func orderOfWhatIsGone() {
    let (plain, member) = (Plain(), Member().attached(to: shop))
    for number in (0..<8).reversed() {
      root.bind(plain, as: (any Service).self, named: UDIName(number))
      _ = member.linkInLine((any Service).self, named: UDIName(number))
      root.unbind((any Service).self, named: UDIName(number))
    }
    #expect(root.snapshot().uses.count == 8)
    for _ in 0..<50 {
      let names = root.snapshot().uses.compactMap(\.name)
      #expect(names == names.sorted())
    }
    withExtendedLifetime(member) {}
  }

  @Test("A factory runs for several contexts: everything counts that is still there")
  func severalContexts() throws {
    root.register((any Alpha).self, lifetime: .unique) { Made(parts: [$0.link((any Service).self)!]) }
    let plains = [Plain("1"), Plain("2")]
    let scopes = try (0..<2).map { try root.makeScope(tag: "\($0)") }
    for (scope, plain) in zip(scopes, plains) {
      scope.bind(plain, as: (any Service).self)
      _ = scope.link((any Alpha).self)
    }
    #expect(
      text(root) == ["UDITests.Alpha -> 0: UDITests.Service: Plain", "UDITests.Alpha -> 1: UDITests.Service: Plain"])
    scopes[0].removeFromParent()
    #expect(text(root) == ["UDITests.Alpha -> 0", "UDITests.Alpha -> 1: UDITests.Service: Plain"])
    scopes[0].unbind((any Service).self)
    #expect(text(root) == ["UDITests.Alpha -> 1: UDITests.Service: Plain"])
    withExtendedLifetime(plains) {}
  }

  @Test("The record keeps nothing alive: neither objects nor contexts nor providers", .unlessItHangs)
  func holdsNothing() async throws {
    let census = Census()
    weak var seen: (Screen)?
    weak var context: UDIContext?
    do {
      let name: UDIName = "made"
      let root = UDIContext(tag: "root")
      context = root
      let made = Made("", census)
      root.bind(made, as: (any Service).self, named: name)
      let screen = Screen().attached(to: root)
      seen = screen
      #expect(screen.linkInLine((any Service).self, named: name) === made)
      root.register((any Alpha).self) { Made("", census, parts: [$0.link((any Service).self, named: name)!]) }
      _ = root.link((any Alpha).self)
      #expect(root.snapshot().uses.count == 2)
    }
    // Another test may be reading the records at the moment, and then holds for that moment what it reads.
    await eventually { seen == nil && context == nil && census.alive == 0 }
  }

  @Test("Dead dependents disappear")
  func deadDependents() throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    do {
      let screen = Screen().attached(to: shop)
      _ = screen.service
      #expect(text(root).count == 1)
    }
    #expect(text(root).isEmpty && root.snapshot().dependents.isEmpty)
    let registration = root.register((any Alpha).self, lifetime: .unique) {
      Made(parts: [$0.link((any Service).self)!])
    }
    _ = root.link((any Alpha).self)
    #expect(text(root).count == 1)
    registration.unregister()
    #expect(text(root).isEmpty)
    withExtendedLifetime(plain) {}
  }

  @Test("Lookups outside factories, and those that find nothing, leave no record")
  func whatIsNotRecorded() {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    root.register((any Alpha).self) { context in
      Made(parts: [context.link((any Beta).self)].compactMap { $0 })
    }
    _ = root.link((any Alpha).self)
    #expect(root.link((any Service).self) === plain)
    #expect(text(root).isEmpty)
  }

  @Test("Asynchronous factories")
  func asynchronous() async throws {
    root.register((any Service).self, lifetime: .context) { Made() }
    root.register((any Beta).self, lifetime: .context) { context async throws -> any Beta in
      await Task.yield()
      return Made(parts: [try context.require((any Service).self)])
    }
    root.register((any Alpha).self, lifetime: .unique) { context async throws -> any Alpha in
      Made(parts: [try await context.obtain((any Beta).self)])
    }
    _ = try await root.obtain((any Alpha).self)
    _ = try await root.obtain((any Alpha).self)
    #expect(
      Set(text(root)) == [
        "UDITests.Beta -> App: UDITests.Service: made, context", "UDITests.Alpha -> App: UDITests.Beta: made, context",
      ])
    #expect(root.snapshot().contexts[0].entries.allSatisfy { $0.lastDuration != nil })
  }

  @Test("An explanation names who needs what it finds, and who has lost it")
  func explanations() throws {
    var plain: Plain? = Plain()
    root.bind(plain!, as: (any Service).self)
    let screens = (0..<6).map { _ in Screen().attached(to: shop) }
    root.register((any Alpha).self, named: "x") { Made(parts: [$0.link((any Service).self)!]) }
    _ = root.link((any Alpha).self, named: "x")
    #expect(
      shop.explain((any Service).self).description.hasSuffix(
        "Needed by the provider of UDITests.Alpha named \"x\" in \"App\""))
    for screen in screens { _ = screen.service }
    let explanation = shop.explain((any Service).self)
    let screen = #"UDITests.UseTests.Screen, attached to "App / Shop""#
    #expect(
      explanation.description.hasSuffix(
        "\nNeeded by the provider of UDITests.Alpha named \"x\" in \"App\", \(screen), \(screen), \(screen) and 3 more")
    )
    #expect(explanation.dependents.count == 7)
    #expect(root.explain((any Beta).self).dependents.isEmpty)
    // Of another tree.
    #expect(UDIContext(tag: "other").explain((any Service).self).dependents.isEmpty)
    plain = nil
    #expect(shop.explain((any Service).self).dependents.count == 7)
    #expect(UDIContext(tag: "other").explain((any Service).self).dependents.isEmpty)
    withExtendedLifetime(screens) {}
  }

  @Test("Nobody has lost what is still there, but out of reach")
  func explanationsOutOfReach() throws {
    let (depot, plain) = (try root.makeChild(tag: "Depot"), Plain())
    shop.bind(plain, as: (any Service).self)
    let screen = Screen().attached(to: shop)
    #expect(screen.service === plain)
    let explanation = depot.explain((any Service).self)
    guard case .outOfReach = explanation.cause else { return _ = Issue.record("\(explanation)") }
    #expect(explanation.dependents.isEmpty)
    shop.unbind((any Service).self)
    #expect(depot.explain((any Service).self).dependents.map(\.fullPath) == [["App", "Shop"]])
    withExtendedLifetime((screen, plain)) {}
  }

  @Test("A diagram connects what it shows")
  func mermaid() throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    root.register((any Alpha).self, lifetime: .unique) { Made(parts: [$0.link((any Service).self)!]) }
    _ = root.link((any Alpha).self)
    let screen = Screen().attached(to: shop)
    _ = screen.service
    #expect(
      root.snapshot().mermaid() == """
        flowchart TD
          c0["App"]
          c0 -.- n1(["UDITests.Service: Plain"])
          c0 --- n2[/"UDITests.Alpha: not made, unique"/]
          c0 --> c1["Shop"]
          c1 -.- d1(["UDITests.UseTests.Screen"])
          n2 ==> n1
          d1 ==> n1
          classDef dead stroke-dasharray: 3 3, opacity: 0.5
          classDef more stroke-dasharray: 1 3
        """)
    #expect(!root.snapshot().mermaid(width: 1).contains("n2 ==>"))
    withExtendedLifetime((plain, screen)) {}
  }

  @Test("A snapshot with records goes through an encoder; one from elsewhere may refer to what is not there")
  func coding() throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    let screen = Screen().attached(to: shop)
    _ = screen.service
    let snapshot = root.snapshot()
    #expect(try JSONDecoder().decode(UDISnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
    let json = """
      {"contexts": [{"tag": "a", "search": "lineage", "entries": [], "removedBindings": []}],
       "dependents": [{"isProvider": false, "typeName": "A", "fullPath": [], "context": 9,
                       "entries": [{"context": -1, "index": 4}]}],
       "uses": [{"dependent": 8, "typeName": "B", "entry": {"context": 2, "index": 3}},
                {"dependent": 0, "typeName": "B", "entry": {"context": 0, "index": 0}}]}
      """
    let other = try JSONDecoder().decode(UDISnapshot.self, from: Data(json.utf8))
    #expect(other.uses.count == 2 && !other.mermaid().contains("==>"))
    withExtendedLifetime((plain, screen)) {}
  }

  @Test("The records of an object go with it")
  func ofTheDead() throws {
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    let screen = Screen().attached(to: shop)
    _ = screen.service
    // The records of objects that are gone do not count.
    for _ in 0..<2 * UDIRecording.capacityOfUses { _ = Screen().attached(to: shop).service }
    #expect(text(root) == ["UDITests.UseTests.Screen -> App: UDITests.Service: Plain"])
    withExtendedLifetime((plain, screen)) {}
  }

  @Test("Of too many records, the oldest are dropped")
  func bound() async throws {
    // In a process of its own, because the records of all trees together are too many.
    await #expect(processExitsWith: .success) {
      UDIRecording.isOn = true
      let root = UDIContext(tag: "App")
      root.register((any Service).self, lifetime: .context) { Plain() }
      let screens = (0...UDIRecording.capacityOfUses).map { _ in Screen().attached(to: root) }
      for screen in screens { _ = screen.service }
      let count = root.snapshot().uses.count
      precondition(count == UDIRecording.capacityOfUses * 3 / 4 + 1, "\(count)")
      withExtendedLifetime(screens) {}
    }
  }

  #if DEBUG
    @Test("Whoever reads the records of one tree loads nothing of another one")
    func otherTrees() throws {
      let other = UDIContext(tag: "Other")
      other.register((any Service).self, lifetime: .context) { Plain() }
      let screen = Screen().attached(to: other)
      _ = screen.service
      let loaded = Tally()
      Schedule.$hook.withValue({ point in
        if point == .loadedToLook { loaded.add() }
      }) {
        _ = root.snapshot()
        _ = root.explain((any Service).self)
      }
      #expect(loaded.count == 0)
      withExtendedLifetime(screen) {}
    }
  #endif

  #if DEBUG
    @Test("A snapshot may release an attachment later than its object; what is bound at the same address by then stays")
    func lateAttachment() throws {
      root.register((any Alpha).self, lifetime: .context) { Made() }
      let (root, successors) = (root, Locked<[Member]>([]))
      let member = Locked<Member?>(Member())
      let address = member.withLock { member in
        member!.attachedContext = root
        _ = member!.linkInLine((any Alpha).self)
        root.bind(member!, as: (any Service).self)
        return ObjectIdentifier(member!)
      }
      // The snapshot releases this after the member and before the member's attachment.
      let farewell = Locked<Farewell?>(
        Farewell {
          for _ in 0..<1000 {
            let successor = Member()
            successors.withLock { $0.append(successor) }
            if ObjectIdentifier(successor) == address {
              root.bind(successor, as: (any Service).self, named: "successor")
              return
            }
          }
        })
      farewell.withLock { root.bind($0!, as: Farewell.self) }
      let points = Tally()
      Schedule.$hook.withValue({ point in
        guard point == .loadedToLook else { return }
        if points.count == 0 { onThreads([{ member.withLock { $0 = nil } }]) }
        if points.count == 1 { onThreads([{ farewell.withLock { $0 = nil } }]) }
        points.add()
      }) {
        _ = root.snapshot()
      }
      let count = successors.withLock { $0.count }
      #expect(count > 0)
      // There is something to check only if the allocator has used the address again.
      if count < 1000 { #expect(root.link((any Service).self, named: "successor") != nil) }
    }
  #endif
}
