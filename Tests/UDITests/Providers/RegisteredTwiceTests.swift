import Testing
import UDI
import UDITesting

/// `UDIMisuse.Kind.registeredTwice`: which replacements are reported, and which are not.
@Suite struct RegisteredTwiceTests {
  let context = UDIContext(tag: "context")

  private func reports(_ body: () -> Void) -> [UDIMisuse] { MisuseLog.during(body).1 }

  @Test func anotherLineIsReportedWithBoth() {
    let (first, second) = (#line + 2, #line + 3)
    let found = reports {
      context.register((any Alpha).self) { Made("old") }
      context.register((any Alpha).self) { Made("new") }
    }
    #expect(found.map(\.kind) == [.registeredTwice] && found.map(\.line) == [second])
    let text = found.first?.message ?? ""
    #expect(text.contains("UDITests.Alpha in \"context\" at UDITests/RegisteredTwiceTests.swift:\(first)."))
    #expect(text.contains("`replaces: true`") && text.contains("`replaces: false`"))
    #expect((context.link((any Alpha).self) as? Made)?.label == "new")
  }

  // In the body of an exit test, all lines would be the same.
  private static func registerTwice() {
    let context = UDIContext(tag: "context")
    context.register((any Alpha).self) { Made() }
    context.provide(Made(), as: (any Alpha).self)
  }

  /// A program learns of each pair of lines once. A task with a reporter of its own, such as a test, learns of each.
  @Test func eachPairOfLinesIsReportedOnceToTheProcess() async {
    await #expect(processExitsWith: .success) {
      UDIRecording.isOn = true
      let (ofProcess, ofTask) = (Tally(), Tally())
      UDIReporter.process = UDIReporter { _ in ofProcess.add() }
      for _ in 0..<3 { Self.registerTwice() }
      for _ in 0..<2 { withReporter(UDIReporter { _ in ofTask.add() }) { Self.registerTwice() } }
      if ofProcess.count != 1 || ofTask.count != 2 { fatalError("\(ofProcess.count), \(ofTask.count)") }
    }
  }

  @Test func theSameLineIsNotReported() {
    #expect(reports { for _ in 0..<2 { context.register((any Alpha).self) { Made() } } }.isEmpty)
  }

  @Test func whatSaysSoIsNotReported() {
    let found = reports {
      context.register((any Alpha).self) { Made("a") }
      context.register((any Alpha).self, replaces: true) { Made("b") }
      context.register((any Alpha).self, replaces: false) { Made("c") }
      context.provide(Made("d"), as: (any Alpha).self, replaces: true).metadata(5)
    }
    #expect(found.isEmpty && (context.link((any Alpha).self) as? Made)?.label == "d")
    #expect(context.registrations(of: (any Alpha).self).first?.metadata as? Int == 5)
  }

  @Test func anotherKeyOrContextIsNotReported() throws {
    let child = try context.makeChild(tag: "child")
    let found = reports {
      context.register((any Alpha).self) { Made() }
      context.register((any Alpha).self, named: "x") { Made() }
      context.register((any Beta).self) { Made() }
      child.register((any Alpha).self) { Made() }
      context.unregister((any Alpha).self)
      context.register((any Alpha).self) { Made() }
    }
    #expect(found.isEmpty)
  }

  @Test func bindingsAndOtherTypesAreNotReported() {
    let (one, other) = (Made(), Made())
    let found = reports {
      context.register(Made.self) { Made() }.implements((any Alpha).self)
      context.register((any Alpha).self) { Made() }
      context.bind(one, as: (any Beta).self)
      context.bind(other, as: (any Beta).self)
    }
    #expect(found.isEmpty)
  }

  @Test func whatASetUpBlockRegistersMayBeReplaced() {
    let found = reports {
      let context = UDIContext(tag: "context") { context in
        context.register((any Alpha).self) { Made("a") }
        context.register((any Alpha).self) { Made("b") }
      }
      context.register((any Alpha).self) { Made("c") }
      #expect((context.link((any Alpha).self) as? Made)?.label == "c")
      // A block may make contexts, too.
      let other = UDIContext(tag: "other") { other in
        _ = try? other.makeChild(tag: "child").register((any Alpha).self) { Made("a") }
      }
      other.child(tag: "child")?.provide(Made("b"), as: (any Alpha).self)
      #expect((other.find("child")?.link((any Alpha).self) as? Made)?.label == "b")
    }
    #expect(found.isEmpty, "\(found)")
    #expect(reports { context.register((any Alpha).self) { Made() } }.isEmpty)
    #expect(reports { context.provide(Made(), as: (any Alpha).self) }.count == 1)
  }

  /// The suite's block, the test's and the test may replace one another's.
  @Test(
    .ownAppContext { $0.register((any Alpha).self) { Made("suite") } },
    .ownAppContext { $0.register((any Alpha).self) { Made("test") } })
  func aTestMayReplaceWhatItsBlocksRegister() {
    AppContext.register((any Alpha).self) { Made("body") }
    #expect((AppContext.link((any Alpha).self) as? Made)?.label == "body")
  }

  @Test func overridesAreNotReported() {
    let found = reports {
      context.register((any Alpha).self) { Made("a") }
      withOverride(of: (any Alpha).self, with: Made("b"), in: context) {
        #expect((context.link((any Alpha).self) as? Made)?.label == "b")
      }
    }
    #expect(found.isEmpty)
  }

  @Test func nothingIsReportedWhileRecordingIsOff() async {
    await #expect(processExitsWith: .success) {
      UDIRecording.isOn = false
      let count = Tally()
      withReporter(UDIReporter { _ in count.add() }) { Self.registerTwice() }
      if count.count > 0 { fatalError("reported") }
    }
  }
}
