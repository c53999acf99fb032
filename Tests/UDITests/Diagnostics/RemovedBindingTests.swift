import Testing
import UDI

/// What explanations say about bindings that are gone, and what they say if nothing was recorded about them.
struct RemovedBindingTests {
  let root = UDIContext(tag: "App")
  let shop: UDIContext
  let file = #fileID

  init() throws { shop = try root.makeChild(tag: "Shop") }

  @Test("Nobody held the object: found dead by the explanation, or by a lookup before")
  func dead() {
    let line = #line + 1
    do { shop.bind(Plain(), as: (any Service).self) }
    let expected =
      "UDITests.Service has died: the Plain bound in \"App / Shop\" at \(file):\(line) is gone, because nothing held it."
    #expect(firstLine(of: root.explain((any Service).self)) == expected)
    #expect(root.link((any Service).self) == nil)
    let explanation = root.explain((any Service).self)
    #expect(firstLine(of: explanation) == expected)
    guard case .dead(let place) = explanation.cause else {
      Issue.record("not dead")
      return
    }
    #expect(place.finding.deadFor.map { $0 >= .zero } == true)
    let error = #expect(throws: UDILinkError.self) { try root.require((any Service).self) }
    #expect(error?.description.hasPrefix(expected) == true)
  }

  @Test("That another one lives elsewhere is told, too")
  func deadButAliveElsewhere() throws {
    do { shop.bind(Plain(), as: (any Service).self) }
    let plain = Plain()
    try root.makeChild(tag: "Account").bind(plain, as: (any Service).self)
    let explanation = shop.explain((any Service).self)
    guard case .dead = explanation.cause else {
      Issue.record("it was the dead one that was meant")
      return
    }
    #expect(explanation.nearestOutside?.fullPath == ["App", "Account"])
    #expect(explanation.description.contains("\nElsewhere, \"App / Account\": Plain, bound at "))
  }

  @Test("The death of an object that takes part is noticed at once, in the context where it was bound")
  func deadMember() {
    let line = #line + 3
    do {
      let member = Member().attached(to: shop)
      member.bind(member, as: (any Other).self)
    }
    #expect(
      firstLine(of: root.explain((any Other).self))
        == "UDITests.Other has died: the Member bound in \"App / Shop\" at \(file):\(line), where it was attached at \(file):\(line - 1), is gone, because nothing held it."
    )
  }

  @Test("An object that bound itself where it was attached, and that nobody held: both lines are named")
  func deadWhereItWasAttached() throws {
    let bound = #line + 1
    @Sendable func make() -> Member { Member { $0.bind($0, as: (any Other).self) } }
    let attached = #line + 1
    _ = make().attached(to: shop)
    #expect(
      firstLine(of: root.explain((any Other).self)) == """
        UDITests.Other has died: the Member bound in "App / Shop" at \(file):\(bound), where it was attached at \
        \(file):\(attached), is gone, because nothing held it.
        """)
    do { make().attachedContext = shop }
    #expect(
      firstLine(of: root.explain((any Other).self)) == """
        UDITests.Other has died: the Member bound in "App / Shop" at \(file):\(bound) is gone, because nothing held it.
        """)
    let registered = #line + 1
    shop.register(Member.self, lifetime: .unique) { make() }
    _ = try shop.require(Member.self)
    #expect(firstLine(of: root.explain((any Other).self)).contains("attached at \(file):\(registered), is gone"))
    // Another object's binding has nothing to do with where the binder was attached.
    let binder = make().attached(to: shop)
    do { binder.bind(Plain(), as: (any Service).self) }
    #expect(!firstLine(of: root.explain((any Service).self)).contains("attached"))
  }

  @Test("A death counts until something is bound there again, and only under its own key")
  func laterDeaths() {
    do { root.bind(Plain(), as: (any Service).self) }
    #expect(root.link((any Service).self) == nil)
    for index in 0..<5 {
      do { root.bind(Plain(), as: (any Service).self, named: UDIName(index)) }
      #expect(root.link((any Service).self, named: UDIName(index)) == nil)
    }
    #expect(root.explain((any Service).self).summary.hasPrefix("UDITests.Service has died"))
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    root.unbind((any Service).self)
    #expect(root.explain((any Service).self).cause == .notRegistered)
  }

  @Test("Replaced by one that has died: the one that was replaced, and whether it is alive, is told")
  func replaced() throws {
    var first: Plain? = Plain()
    let line = #line + 1
    if let first { shop.bind(first, as: (any Service).self) }
    do { shop.bind(Plain(), as: (any Service).self) }
    #expect(root.link((any Service).self) == nil)
    let explanation = root.explain((any Service).self)
    let expected =
      "UDITests.Service is no longer in \"App / Shop\": Plain, replaced at \(file):\(line + 1) less than a second ago and "
      + "still alive, bound at \(file):\(line)."
    #expect(firstLine(of: explanation) == expected)
    guard case .replaced(let place) = explanation.cause else {
      Issue.record("it was replaced")
      return
    }
    let finding = place.finding
    #expect(
      finding.isAlive && finding.className == "Plain" && finding.line == line
        && finding.deadFor.map { $0 >= .zero } == true
    )
    #expect(finding.endFileID == file && finding.endLine == line + 1)
    #expect(
      explanation.description.contains(
        """
        "App / Shop": Plain, dead for less than a second, bound at \(file):\(line + 1); \
        Plain, replaced at \(file):\(line + 1) less than a second ago and still alive, bound at \(file):\(line)
        """))
    let error = #expect(throws: UDILinkError.self) { try root.require((any Service).self) }
    #expect(error?.description.hasPrefix(expected) == true)
    // If the later one has died as well, its death is what counts.
    weak let observed = first
    first = nil
    #expect(observed == nil)
    #expect(firstLine(of: root.explain((any Service).self)).hasPrefix("UDITests.Service has died"))
    #expect(root.explain((any Service).self).description.contains("less than a second ago and dead by now, bound at"))
  }

  @Test("Replaced by one that was taken back, or is still there")
  func replacedAndTakenBack() {
    let (first, second) = (Plain(), Plain())
    root.bind(first, as: (any Service).self)
    root.bind(second, as: (any Service).self)
    guard case .found = root.explain((any Service).self).cause else {
      Issue.record("the second is there")
      return
    }
    #expect(root.explain((any Service).self).contexts[0].findings.map(\.kind) == [.live, .replaced])
    root.unbind((any Service).self)
    guard case .replaced = root.explain((any Service).self).cause else {
      Issue.record("the first was replaced")
      return
    }
    withExtendedLifetime((first, second)) {}
  }

  @Test("Withdrawn by a second bind of the same instance")
  func withdrawn() throws {
    let account = try root.makeChild(tag: "Account")
    let plain = Plain()
    let line = #line + 1
    shop.bind(plain, as: (any Service).self)
    account.bind(plain, as: (any Service).self)
    let explanation = shop.explain((any Service).self)
    #expect(
      firstLine(of: explanation)
        == "UDITests.Service is no longer in \"App / Shop\": Plain, withdrawn by the bind at \(file):\(line + 1) less than a second ago and still alive, bound at \(file):\(line)."
    )
    guard case .withdrawn(let place) = explanation.cause else {
      Issue.record("it was withdrawn")
      return
    }
    #expect(place.finding.isAlive && place.finding.endLine == line + 1)
    #expect(explanation.nearestOutside?.fullPath == ["App", "Account"])
    #expect(explanation.description.contains("less than a second ago and still alive, bound at"))
    // Doing what the explanation says helps, and then there is nothing to explain.
    shop.multiBind(plain, as: (any Service).self)
    account.unbind((any Service).self)
    #expect(shop.link((any Service).self) === plain)
    shop.unbind((any Service).self)
    #expect(shop.explain((any Service).self).cause == .notRegistered)
  }

  @Test("To bind the same instance again, to attach it elsewhere, or to take it back replaces and withdraws nothing")
  func noRecord() {
    let member = Member { $0.bind($0, as: (any Service).self) }.attached(to: root)
    member.attachedContext = root
    #expect(root.explain((any Service).self).contexts[0].findings.map(\.kind) == [.live])
    member.attachedContext = shop
    #expect(root.explain((any Service).self, search: .local).contexts[0].findings.isEmpty)
    member.unbind((any Service).self)
    #expect(root.explain((any Service).self).cause == .notRegistered)
  }

  @Test("A later bind under the key forgets all that was there before what it replaces")
  func laterBinds() {
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Service).self)
    root.bind(second, as: (any Service).self)
    shop.bind(second, as: (any Service).self)
    var kinds: [UDIEntry.Kind] {
      root.explain((any Service).self, search: .local).contexts[0].findings.map(\.kind)
    }
    #expect(kinds == [.withdrawn, .replaced])
    for _ in 0..<5 {
      do { root.bind(Plain(), as: (any Service).self) }
      #expect(root.link((any Service).self, search: .local) == nil)
      #expect(kinds == [.dead])
    }
    root.bind(first, as: (any Service).self)
    root.bind(Plain(), as: (any Service).self)
    #expect(root.link((any Service).self, search: .local) == nil)
    #expect(kinds == [.dead, .replaced])
    root.bind(first, as: (any Service).self)
    root.unbind((any Service).self)
    #expect(kinds.isEmpty)
    withExtendedLifetime((first, second)) {}
  }

  @Test("A record keeps no object alive, and lets none go under a lock")
  func weakRecords() {
    weak var observed: Farewell?
    do {
      let last = Farewell { [root] in root.bind(Plain(), as: (any Other).self) }
      observed = last
      root.bind(last, as: (any Service).self)
      let plain = Plain()
      root.bind(plain, as: (any Service).self)
      #expect(root.explain((any Service).self).contexts[0].findings.last?.isAlive == true)
    }
    #expect(observed == nil)
    #expect(root.explain((any Service).self).contexts[0].findings.allSatisfy { !$0.isAlive })
    // The last reference is dropped while threads read the record.
    for _ in 0..<50 {
      let holder = Locked<Farewell?>(Farewell { [root] in root.bind(Plain(), as: (any Other).self) })
      if let last = holder.withLock({ $0 }) { root.bind(last, as: (any Service).self) }
      let plain = Plain()
      root.bind(plain, as: (any Service).self)
      onThreads(2) { [root] index in
        if index == 0 {
          let last = holder.withLock { holder in
            defer { holder = nil }
            return holder
          }
          _ = consume last
        } else {
          for _ in 0..<5 { _ = root.explain((any Service).self) }
        }
      }
      root.bind(Plain(), as: (any Service).self)
    }
  }

  @Test("Records can be switched off, are bounded, and keep nothing alive")
  func records() async {
    // In a process of its own, because the switch affects the whole process.
    await #expect(processExitsWith: .success) {
      let root = UDIContext(tag: "App")
      precondition(UDIRecording.isOn, "the default in debug builds")
      UDIRecording.isOn = false
      do { root.bind(Plain(), as: (any Service).self) }
      precondition(root.link((any Service).self) == nil)
      precondition(root.explain((any Service).self).cause == .notRegistered)
      UDIRecording.isOn = true
      precondition(root.explain((any Service).self).cause == .notRegistered)
      for _ in 0..<UDIRecording.capacity + 10 {
        do { root.bind(Plain(), as: (any Service).self, named: "passing") }
        precondition(root.link((any Service).self, named: "passing") == nil)
      }
      precondition(root.explain((any Service).self, named: "passing").contexts[0].findings.count == 1)
      do {
        // More than there is room for.
        let objects = (0..<UDIRecording.capacity + 10).map { _ in Plain() }
        for object in objects { root.bind(object, as: (any Service).self, named: "replaced") }
        precondition(root.explain((any Service).self, named: "replaced").contexts[0].findings.count == 2)
        root.unbind((any Service).self, named: "replaced")
        // What a bind has dropped takes no room.
        guard case .dead = root.explain((any Service).self, named: "passing").cause else {
          preconditionFailure("it is still recorded")
        }
      }
      do { root.bind(Plain(), as: (any Service).self, named: "passing") }
      precondition(root.link((any Service).self, named: "passing") == nil)
      guard case .dead = root.explain((any Service).self, named: "passing").cause else {
        preconditionFailure("it died")
      }
      // Names that do not come back.
      let count = UDIRecording.capacity * 5 / 2
      for index in 0..<count {
        do { root.bind(Plain(), as: (any Service).self, named: UDIName(index)) }
        precondition(root.link((any Service).self, named: UDIName(index)) == nil)
      }
      for index in 0..<count {
        let cause = root.explain((any Service).self, named: UDIName(index)).cause
        let isKnown = if case .dead = cause { true } else { false }
        precondition(isKnown == (index >= count - UDIRecording.capacity), "\(index): \(cause)")
      }
      UDIRecording.isOn = false
      precondition(root.explain((any Service).self, named: "passing").cause == .notRegistered)
    }
  }

  @Test("Where nothing is recorded, the first line says what cannot be known, and the explanation is marked")
  func withoutRecords() async {
    // In a process of its own, because the switch affects the whole process.
    await #expect(processExitsWith: .success) {
      let missing =
        "If one was there and has died, that was not recorded: set `UDIRecording.isOn = true` to find out."
      let root = UDIContext(tag: "App")
      #expect(root.explain((any Service).self).wasRecording)
      UDIRecording.isOn = false
      do { root.bind(Plain(), as: (any Service).self) }
      #expect(root.link((any Service).self) == nil)
      let explanation = root.explain((any Service).self)
      #expect(!explanation.wasRecording)
      #expect(firstLine(of: explanation) == "No UDITests.Service is registered in this tree now. \(missing)")
      // Each of these might look like the cause, but is not.
      let plain = Plain()
      root.bind(plain, as: (any Service).self, named: "x")
      #expect(firstLine(of: root.explain((any Service).self)).hasSuffix(missing))
      root.bind(plain, as: Plain.self)
      #expect(firstLine(of: root.explain((any Other).self)).hasSuffix(missing))
      let shop = try root.makeChild(tag: "Shop")
      #expect(firstLine(of: shop.explain(Plain.self, search: .descendants)).hasSuffix(missing))
      withAppContext(root) {
        let error = #expect(throws: UDILinkError.self) { try Member().require((any Alpha).self) }
        #expect(error?.description.contains("which has no UDITests.Alpha. \(missing)") == true)
        #expect(error?.explanation.wasRecording == false)
      }
      // What is found, dead or alive, is known without a record.
      do { root.bind(Plain(), as: (any Loose).self) }
      #expect(!firstLine(of: root.explain((any Loose).self)).contains("recorded"))
      #expect(!firstLine(of: root.explain(Plain.self)).contains("recorded"))
      withExtendedLifetime(plain) {}
    }
  }
}
