import Foundation
import Testing
import UDI

/// What is told of bindings that are gone, and what is told where nothing was recorded of them.
struct RecordTests {
  let root = UDIContext(tag: "App")
  let shop: UDIContext
  let file = #fileID

  init() throws { shop = try root.makeChild(tag: "Shop") }

  @Test("Nobody held the object: found dead by the explanation, or by a lookup before")
  func dead() {
    let line = #line + 1
    do { shop.bind(Plain(), as: (any Service).self) }
    let expected =
      "UDITests.Service has died: the Plain bound in \"App / Shop\" at \(file):\(line) is gone, because nobody held it."
    #expect(firstLine(of: root.explain((any Service).self)) == expected)
    #expect(root.link((any Service).self) == nil)
    let explanation = root.explain((any Service).self)
    #expect(firstLine(of: explanation) == expected)
    guard case .dead(let place) = explanation.cause else {
      Issue.record("not dead")
      return
    }
    #expect(place.finding.deadFor.map { $0 >= 0 } == true)
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
    #expect(explanation.nearestOutside?.path == ["App", "Account"])
    #expect(explanation.description.contains("\nElsewhere, \"App / Account\": a Plain, bound at "))
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
        == "UDITests.Other has died: the Member bound in \"App / Shop\" at \(file):\(line) is gone, because nobody held it."
    )
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

  @Test("What was decoded may say anything")
  func decoded() throws {
    do { root.bind(Plain(), as: (any Service).self) }
    _ = root.link((any Service).self)
    var json = String(decoding: try JSONEncoder().encode(root.explain((any Service).self)), as: UTF8.self)
    json.replace(/"deadFor":[^,}]*/, with: "\"deadFor\":1e300")
    let decoded = try JSONDecoder().decode(UDIExplanation.self, from: Data(json.utf8))
    #expect(decoded.description.contains("dead for a long time"))
  }

  @Test("Records can be switched off, are bounded, and keep nothing alive")
  func records() async {
    // In a process of its own: the switch is for all of it.
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
      UDIRecording.isOn = false
      precondition(root.explain((any Service).self, named: "passing").cause == .notRegistered)
    }
  }

  @Test("Where nothing is recorded, the first line says what cannot be known, and the explanation is marked")
  func withoutRecords() async {
    // In a process of its own: the switch is for all of it.
    await #expect(processExitsWith: .success) {
      let missing =
        "Whether one was there and has died was not recorded: set `UDIRecording.isOn = true` to know."
      let root = UDIContext(tag: "App")
      #expect(root.explain((any Service).self).wasRecording)
      UDIRecording.isOn = false
      do { root.bind(Plain(), as: (any Service).self) }
      #expect(root.link((any Service).self) == nil)
      let explanation = root.explain((any Service).self)
      #expect(!explanation.wasRecording)
      #expect(firstLine(of: explanation) == "No UDITests.Service is registered in this tree now. \(missing)")
      #expect(explanation.advice?.hasPrefix("If one was bound, hold it") == true)
      // Each of these may be another cause than the true one.
      let plain = Plain()
      root.bind(plain, as: (any Service).self, named: "x")
      #expect(firstLine(of: root.explain((any Service).self)).hasSuffix(missing))
      root.bind(plain, as: Plain.self)
      #expect(firstLine(of: root.explain((any Other).self)).hasSuffix(missing))
      let shop = try root.makeChild(tag: "Shop")
      #expect(firstLine(of: shop.explain(Plain.self)).hasSuffix(missing))
      withAppContext(root) {
        let error = #expect(throws: UDILinkError.self) { try Member().require((any Alpha).self) }
        #expect(error?.description.contains("which has no UDITests.Alpha. \(missing)") == true)
        #expect(error?.explanation.wasRecording == false)
      }
      // What is found dead, or alive, is known.
      do { root.bind(Plain(), as: (any Loose).self) }
      #expect(!firstLine(of: root.explain((any Loose).self)).contains("recorded"))
      #expect(!firstLine(of: root.explain(Plain.self)).contains("recorded"))
      withExtendedLifetime(plain) {}
    }
  }
}
