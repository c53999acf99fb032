import Testing
import UDI

/// `explain`: the first line gives the cause of each mistake that people make.
struct ExplainTests {
  let root = UDIContext(tag: "App")
  let shop: UDIContext
  let file = #fileID

  init() throws { shop = try root.makeChild(tag: "Shop") }

  @Test("Under another name, and without one")
  func otherName() {
    let (plain, other) = (Plain(), Plain())
    shop.bind(plain, as: (any Service).self, named: "backup")
    root.bind(other, as: (any Service).self, named: 7)
    #expect(
      firstLine(of: root.explain((any Service).self))
        == "No UDITests.Service without a name is registered in \"App\" and below, only one named \"Swift.Int 7\" and one named \"backup\"."
    )
    root.bind(plain, as: (any Other).self)
    #expect(
      firstLine(of: root.explain((any Other).self, named: "x"))
        == "No UDITests.Other named \"x\" is registered in \"App\" and below, only one without a name.")
  }

  @Test("Of very many names, the first ten are listed, those of nearer contexts first, and the others counted")
  func manyNames() throws {
    let plain = Plain()
    for index in 0..<8 { root.provide("\(index)", named: "root \(index)") }
    for index in 0..<8 { shop.provide("\(index)", named: "shop \(index)") }
    let empty = try shop.makeChild(tag: "Empty")
    let explanation = empty.explain(String.self)
    #expect(
      firstLine(of: explanation).hasSuffix(
        #"only one named "root 0" and one named "root 1" and \#((0..<8).map { #"one named "shop \#($0)""# }.joined(separator: " and ")) and 6 more."#
      ))
    #expect(explanation.contexts.map(\.findings.count) == [0, 8, 2])
    #expect(explanation.description.contains("; 6 more with other names"))
    // A third context has others only. One that has died does not count.
    let top = UDIContext(tag: "Top")
    for index in 0..<20 { top.provide("\(index)", named: "top \(index)") }
    for index in 0..<3 { top.bind(plain, as: (any Service).self, named: UDIName(index)) }
    do { top.bind(Plain(), as: (any Service).self, named: "dead") }
    try top.addChild(root)
    #expect(empty.explain(String.self).contexts.map(\.findings.count) == [0, 8, 2, 0])
    #expect(empty.explain(String.self).description.contains("\"Top\": 20 more with other names"))
    let error = #expect(throws: UDILinkError.self) { try top.require((any Service).self) }
    #expect(error?.cause == .otherNames((0..<3).map { "Swift.Int \($0)" }))
    #expect(error?.explanation.contexts[0].findings.count == 3)
  }

  @Test("What is registered under other names does not matter once something is there")
  func namesBesideAnAnswer() {
    root.provide("x", named: "x")
    root.register(String.self) { () -> String? in nil }
    let error = #expect(throws: UDILinkError.self) { try root.require(String.self) }
    #expect(error?.cause == .factoryReturnedNil && error?.explanation.contexts[0].findings.count == 1)
    root.provide("y", replaces: true)
    #expect(root.explain(String.self).contexts[0].findings.map(\.name) == [nil])
  }

  @Test("Under another name here, but under the very key in a scope or on another branch, or as another type here")
  func theVeryKeyComesFirst() throws {
    let (other, exact) = (Plain(), Plain())
    shop.bind(other, as: (any Service).self, named: "a")
    let scope = try root.makeScope(tag: "Scope")
    scope.bind(exact, as: (any Service).self, named: "b")
    guard case .inScope(let place, _) = shop.explain((any Service).self, named: "b").cause else {
      Issue.record("\(shop.explain((any Service).self, named: "b"))")
      return
    }
    #expect(place.finding.name?.contains("b") == true)
    let branch = try root.makeChild(tag: "Branch")
    branch.bind(exact, as: (any Service).self, named: "b")
    #expect(firstLine(of: shop.explain((any Service).self, named: "b")).contains("is out of reach"))
    branch.bind(exact, as: (any Other).self)
    shop.bind(other, as: Plain.self)
    #expect(firstLine(of: shop.explain((any Other).self)).contains("is out of reach"))
  }

  @Test("A name of a number differs from one of its digits, and the texts of names compare with the names")
  func nameTexts() {
    enum Place { case left }
    let plain = Plain()
    root.bind(plain, as: (any Service).self, named: 1)
    #expect(
      firstLine(of: root.explain((any Service).self, named: "1"))
        == "No UDITests.Service named \"1\" is registered in \"App\" and below, only one named \"Swift.Int 1\".")
    for name in ["backup", UDIName(7), UDIName(Place.left)] {
      let explanation = root.explain((any Other).self, named: name)
      #expect(explanation.name == name.description)
    }
    #expect(UDIName("backup").description == "backup" && UDIName(Place.left).description.hasSuffix("Place.left"))
  }

  @Test("As its class, not as the protocol; bound, and made by a provider")
  func otherType() {
    let plain = Plain()
    let line = #line + 1
    root.bind(plain, as: Plain.self)
    #expect(
      firstLine(of: root.explain((any Service).self))
        == "No UDITests.Service is registered in \"App\" and below, but there is one in \"App\": Plain, bound as UDITests.Plain at \(file):\(line)."
    )
    shop.register(Made.self, lifetime: .context) { Made() }
    let made = shop.link(Made.self)
    guard case .otherType(let place) = shop.explain((any Alpha).self).cause else {
      Issue.record("the Made is one")
      return
    }
    #expect(place.finding.className == "Made" && place.finding.kind == .kept)
    withExtendedLifetime(made) {}
  }

  @Test("Out of reach: above, below, and in a sibling branch")
  func outOfReach() throws {
    let account = try root.makeChild(tag: "Account")
    let plain = Plain()
    let line = #line + 1
    account.bind(plain, as: (any Service).self)
    let explanation = shop.explain((any Service).self)
    #expect(
      explanation.description == """
        UDITests.Service is out of reach: it is registered in "App / Account", at \(file):\(line), and was looked for in "App / Shop", below and above.
        No search enters a sibling branch: link from there; or have an object in both, with `multiBind(_:as:in:)`; or register it in "App", which is above both.
        Looked in "App / Shop", below and above (.lineage), at 2 contexts:
          "App / Shop": nothing
          "App": nothing
        Elsewhere, "App / Account": Plain, bound at \(file):\(line)
        """)
    #expect(root.explain((any Service).self, search: .local).advice?.contains("`search: .descendants`") == true)
    let below = try account.makeChild(tag: "Below")
    let down = below.explain((any Service).self, search: .descendants)
    #expect(down.advice == "Search upwards: name `.lineage` or `.ancestors`, or make that the context's `search`.")
  }

  @Test("Looked for where no tree is any more")
  func contextRemoved() throws {
    func orphan() throws -> UDIContext { try UDIContext(tag: "Gone").makeChild(tag: "Orphan").makeChild(tag: "Below") }
    root.provide(Plain(), as: (any Service).self)
    let ended = root.withScope(tag: "Request") { $0 }
    let removed = try root.makeChild(tag: "Removed")
    removed.removeFromParent()
    for context in [ended, removed, try orphan()] {
      #expect(context.explain((any Service).self).cause == .contextRemoved)
    }
    #expect(
      firstLine(of: ended.explain((any Service).self)) == """
        No UDITests.Service is registered in "Request" and below, and "Request" has lost its parent.
        """)
    try root.addChild(removed)
    #expect(removed.link((any Service).self) != nil)
    #expect(removed.explain((any Alpha).self).cause == .notRegistered)
  }

  @Test("Looked up as an optional")
  func optional() throws {
    let line = #line + 1
    root.register((any Service).self) { Plain() }
    let explanation = root.explain((any Service)?.self).description
    #expect(
      explanation.hasPrefix(
        """
        No Swift.Optional<UDITests.Service> is registered in "App" and below, but there is one in "App": the provider \
        (context) registered as UDITests.Service at \(file):\(line).
        Look up UDITests.Service, without the question mark: `link` returns an optional anyway.
        """), "\(explanation)")
    let other = Plain()
    root.bind(other, as: (any Other).self)
    guard case .otherType(let place) = root.explain((any Other)?.self).cause else {
      Issue.record("\(root.explain((any Other)?.self))")
      return
    }
    #expect(place.finding.typeName == "UDITests.Other")
  }

  @Test("Registered as an optional: as a protocol, as a class, and with an instance or without one")
  func registeredAsOptional() {
    let line = #line + 1
    root.register((any Service)?.self) { Plain() }
    let explanation = root.explain((any Service).self).description
    #expect(
      explanation.hasPrefix(
        """
        No UDITests.Service is registered in "App" and below, but there is one in "App": the provider (context) \
        registered as Swift.Optional<UDITests.Service> at \(file):\(line).
        Register it as UDITests.Service, without the question mark: its factory may return nil, or give none.
        """), "\(explanation)")
    #expect(root.link((any Service)?.self) != nil)
    guard case .otherType = root.explain((any Service).self).cause else {
      Issue.record("\(root.explain((any Service).self))")
      return
    }
    root.register(Made?.self) { () -> Made? in nil }
    let error = #expect(throws: UDILinkError.self) { try root.require((any Alpha).self) }
    guard case .otherType(let place) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(place.finding.typeName == "Swift.Optional<UDITests.Made>")
  }

  @Test("Never registered")
  func notRegistered() {
    #expect(firstLine(of: shop.explain((any Service).self)) == "No UDITests.Service is registered in this tree.")
  }

  @Test("Asked by an object that is attached to nothing")
  func unattached() throws {
    try withAppContext(root) {
      let member = Member()
      let expected =
        "The Member that asks is attached to nothing, so the lookup began at AppContext, which has no UDITests.Service."
      #expect(firstLine(of: member.explain((any Service).self)) == expected)
      // The object could find it if it were attached to the scope.
      let scope = try root.makeScope(tag: "session")
      scope.provide(Plain(), as: (any Service).self)
      #expect(firstLine(of: member.explain((any Service).self)) == expected)
      scope.removeFromParent()
      let error = #expect(throws: UDILinkError.self) { try member.require((any Service).self) }
      #expect(error.map { firstLine(of: $0.explanation) } == expected)
    }
  }

  @Test("Other arguments than the provider wants")
  func arguments() {
    root.register((any Service).self) { (_, _: Int, _: String) in Plain() }
    #expect(
      firstLine(of: shop.explain((any Service).self, search: .ancestors, with: 5))
        == "The provider of UDITests.Service wants (Swift.Int, Swift.String) and got (Swift.Int).")
    #expect(
      firstLine(of: shop.explain((any Service).self, search: .ancestors))
        == "The provider of UDITests.Service wants (Swift.Int, Swift.String) and got no arguments.")
    guard case .found = root.explain((any Service).self, with: 5, "x").cause else {
      Issue.record("these are the arguments")
      return
    }
  }

  @Test("Made on the main actor only, by a factory that returns nil, or with the context gone")
  func failures() async throws {
    root.register((any Service).self) { @MainActor in Plain() }
    #expect(
      firstLine(of: shop.explain((any Service).self, search: .ancestors))
        == """
        The factory of UDITests.Service belongs to the main actor. This lookup ran elsewhere, and nothing had been made yet.
        """)
    root.register((any Other).self) { nil }
    let error = #expect(throws: UDILinkError.self) { try root.require((any Other).self) }
    #expect(error.map { firstLine(of: $0.explanation) } == "The factory of UDITests.Other returned nil.")
    let member: Member
    do {
      let owner = UDIContext(tag: "owner")
      owner.register((any Service).self, lifetime: .context) { Member() }
      member = try #require(owner.link((any Service).self) as? Member)
    }
    #expect(
      firstLine(of: member.explain((any Other).self))
        == "The context from which UDITests.Other was to be looked up is gone.")
  }

  @Test("Found: bound, kept and to be made; and what is equally near")
  func found() throws {
    let (first, second) = (Plain(), Plain())
    let line = #line + 1
    shop.bind(first, as: (any Service).self)
    #expect(
      firstLine(of: root.explain((any Service).self))
        == "UDITests.Service is there, in \"App / Shop\": Plain, bound at \(file):\(line).")
    try root.makeChild(tag: "Twin").bind(second, as: (any Service).self)
    let explanation = root.explain((any Service).self)
    #expect(
      firstLine(of: explanation)
        == "UDITests.Service is there, in \"App / Shop\": Plain, bound at \(file):\(line). Another one is equally near, in \"App / Twin\": the branch that was added first comes first."
    )
    #expect(explanation.equallyNear.count == 1 && explanation.advice == nil)
    root.register((any Other).self, lifetime: .context) { Plain() }
    #expect(root.explain((any Other).self).summary.contains("in \"App\": the provider (context) registered at "))
    #expect(root.link((any Other).self) != nil)
    #expect(root.explain((any Other).self).summary.contains("in \"App\": Plain, kept by the provider ("))
  }

  @Test("An object that is attached to nothing is not blamed for what a factory asked for")
  func unattachedButNotToBlame() {
    withAppContext(root) {
      root.register((any Alpha).self) { context in Made(parts: [try context.require((any Beta).self)]) }
      let error = #expect(throws: UDILinkError.self) { try Member().require((any Alpha).self) }
      #expect(error?.cause == .notRegistered && error?.explanation.typeName == "UDITests.Beta")
    }
  }

  @Test("Arguments that cast are the right ones, and those that cannot be compared are told where they are kept")
  func castArguments() {
    struct Opaque: Sendable {}
    root.register((any Service).self) { (_, _: any Sendable, _: Int?) in Plain() }
    #expect(root.link((any Service).self, with: "x", 5) != nil)
    guard case .found = root.explain((any Service).self, with: "x", 5).cause else {
      Issue.record("that is what a link takes")
      return
    }
    root.register((any Other).self, lifetime: .context) { (_, _: Opaque) in Plain() }
    let cause = root.explain((any Other).self, with: Opaque()).cause
    #expect(#expect(throws: UDILinkError.self) { try root.require((any Other).self, with: Opaque()) }?.cause == cause)
  }

  @Test("Many that are equally near, and deep trees, are told of in bounds", .exceptUnderThreadSanitizer)
  func bounds() throws {
    let plain = Plain()
    for index in 0..<1500 { try shop.makeChild(tag: "\(index)").multiBind(plain, as: (any Service).self) }
    let explanation = root.explain((any Service).self)
    #expect(explanation.equallyNear.count == 97)
    #expect(explanation.summary.contains("1\": the branch that was added first"))
    #expect(explanation.contexts.count + explanation.omittedCount == 1502)
    let top = UDIContext(tag: "deep")
    var deep = top
    for level in 0..<3000 { deep = try deep.makeChild(tag: "\(level)") }
    do { deep.bind(Plain(), as: (any Other).self) }
    let error = #expect(throws: UDILinkError.self) { try deep.require((any Other).self, search: .ancestors) }
    #expect(error?.explanation.isAbridged == true)
    #expect(deep.explain((any Loose).self, search: .ancestors).omittedCount == 2989)
    withExtendedLifetime(top) {}
  }

  @Test("In a large tree it shows the first contexts, those that have something, and counts the others")
  func largeTree() throws {
    for index in 0..<5000 { try shop.makeChild(tag: "\(index)") }
    let plain = Plain()
    shop.child(tag: "4321")?.bind(plain, as: (any Service).self, named: "x")
    let explanation = root.explain((any Service).self)
    #expect(explanation.contexts.count == 13 && explanation.omittedCount == 4989 && !explanation.isAbridged)
    #expect(
      explanation.description.contains("\"App / Shop / 4321\": Plain, bound as UDITests.Service named \"x\" at"))
    let error = #expect(throws: UDILinkError.self) { try root.require((any Service).self) }
    #expect(error?.explanation.isAbridged == true && error?.explanation.contexts.count == 12)
  }

  @Test("It is abridged only if contexts are left", arguments: [(999, false), (1000, true)])
  func abridged(children: Int, isAbridged: Bool) throws {
    let root = UDIContext(tag: "root")
    for index in 0..<children { try root.makeChild(tag: "\(index)") }
    let error = #expect(throws: UDILinkError.self) { try root.require((any Service).self) }
    #expect(error?.explanation.isAbridged == isAbridged)
  }

  @Test("It is a value: comparable, and holding nothing")
  func value() throws {
    weak var observed: Plain?
    var explanations: [UDIExplanation] = []
    do {
      let plain = Plain()
      observed = plain
      root.bind(plain, as: Plain.self)
      explanations = [root.explain((any Service).self), root.explain(Plain.self)]
      #expect(explanations == [root.explain((any Service).self), root.explain(Plain.self)])
    }
    #expect(observed == nil)
    #expect(explanations[0] != explanations[1])
  }

  @Test("What is kept for these arguments, or in a user's storage, is found")
  func keptForArguments() async throws {
    root.register(Plain.self, lifetime: .context) { (_: UDIContext, id: Int) async in Plain("\(id)") }
    let made = try await root.obtain(Plain.self, with: 1)
    #expect(root.link(Plain.self, with: 1) === made)
    guard case .found = root.explain(Plain.self, with: 1).cause else {
      Issue.record("\(root.explain(Plain.self, with: 1))")
      return
    }
    #expect(root.explain(Plain.self, with: 2).cause == .asynchronous(nil))
    let shelf = UDILifetime("shelf", storage: .custom { ExplainedShelf() })
    root.register((any Service).self, lifetime: shelf) {
      await Task.yield()
      return Plain()
    }
    #expect(root.explain((any Service).self).cause == .asynchronous(nil))
    let stored = try await root.obtain((any Service).self)
    #expect(root.link((any Service).self) === stored)
    guard case .found = root.explain((any Service).self).cause else {
      Issue.record("\(root.explain((any Service).self))")
      return
    }
  }
}

/// Keeps an instance until it is reset.
private final class ExplainedShelf: UDIStorage {
  private let kept = Locked<UDIMade?>(nil)
  func load() -> UDIMade? { kept.withLock { $0 } }
  func store(_ made: UDIMade) { kept.withLock { $0 = made } }
  func reset() { kept.withLock { $0 = nil } }
}
