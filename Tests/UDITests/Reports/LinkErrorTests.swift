import Testing
import UDI

/// The way from whoever asked to what is missing, in errors and in reports.
struct LinkErrorTests {
  let root = UDIContext(tag: "App")
  let file = #fileID

  private func labels(_ error: UDILinkError?) -> [String] {
    error?.chain.map { step in step.name.map { "\(step.typeName) named \($0)" } ?? step.typeName } ?? []
  }

  @Test("From an object through providers: each step with its place, on the first lines for whom")
  func way() throws {
    let alpha = #line + 1
    root.register((any Alpha).self) { context in Made(parts: [try context.require((any Beta).self, named: "b")]) }
    let beta = #line + 1
    root.register((any Beta).self, named: "b", lifetime: .context) { context in
      Made(parts: [try context.require((any Gamma).self)])
    }
    let member = Member().attached(to: root)
    let asked = #line + 1
    let error = try #require(#expect(throws: UDILinkError.self) { try member.require((any Alpha).self) })
    #expect(error.cause == .notRegistered && error.explanation.typeName == "UDITests.Gamma")
    #expect(error.chain.map(\.isProvider) == [false, true, true, false])
    #expect(
      labels(error) == ["UDITests.Member", "UDITests.Alpha", "UDITests.Beta named b", "UDITests.Gamma"])
    #expect(error.chain.map(\.fileID) == [file, file, file, nil])
    #expect(error.chain.map(\.line) == [asked, alpha, beta, nil])
    let lines = error.description.split(separator: "\n")
    #expect(
      lines.prefix(3) == [
        #"No UDITests.Gamma is registered in this tree. UDITests.Beta named "b" needs it, for UDITests.Alpha, for UDITests.Member."#,
        #"UDITests.Member (\#(file):\#(asked)) → UDITests.Alpha (\#(file):\#(alpha)) → UDITests.Beta named "b" (\#(file):\#(beta)) → UDITests.Gamma"#,
        "Provide or bind one as UDITests.Gamma, or register a provider.",
      ])
  }

  @Test("Asked by a context there is nobody to name")
  func contextAlone() {
    let error = #expect(throws: UDILinkError.self) { try root.require((any Alpha).self) }
    #expect(error?.chain.map(\.isProvider) == [false])
    #expect(error.map { $0.description == $0.explanation.description } == true)
  }

  @Test(
    "Every way to make passes the error on with its step",
    arguments: [UDILifetime.unique, .graph, .weak, .context, UDILifetime("own")])
  func everyWay(lifetime: UDILifetime) {
    root.register((any Alpha).self, lifetime: lifetime) { context in
      Made(parts: [try context.require((any Beta).self, with: 1)])
    }.implements((any Service).self)
    root.register((any Beta).self, lifetime: lifetime) { (context, _: Int) in
      Made(parts: [try context.require((any Gamma).self)])
    }
    for _ in 0..<2 {
      let error = #expect(throws: UDILinkError.self) { try root.require((any Service).self) }
      #expect(labels(error) == ["UDITests.Service", "UDITests.Alpha", "UDITests.Beta", "UDITests.Gamma"])
    }
  }

  @Test("What is there and could not be made has its place, too")
  func notMade() {
    root.register((any Alpha).self) { context in Made(parts: [try context.require((any Beta).self)]) }
    let line = #line + 1
    root.register((any Beta).self) { nil }
    let error = #expect(throws: UDILinkError.self) { try root.require((any Alpha).self) }
    #expect(error?.cause == .factoryReturnedNil)
    #expect(labels(error) == ["UDITests.Alpha", "UDITests.Beta"])
    #expect(error?.chain.last?.line == line && error?.chain.last?.fileID == file)
    #expect(
      error?.description.hasPrefix("The factory of UDITests.Beta returned nil. UDITests.Alpha needs it.\n") == true)
  }

  @Test("A cycle keeps its path, and has the way there as well")
  func cycle() {
    root.register((any Alpha).self) { context in Made(parts: [try context.require((any Beta).self)]) }
    root.register((any Beta).self) { context in Made(parts: [try context.require((any Gamma).self)]) }
    root.register((any Gamma).self) { context in Made(parts: [try context.require((any Beta).self)]) }
    let error = #expect(throws: UDILinkError.self) { try root.require((any Alpha).self) }
    #expect(error?.cause == .cycle(["UDITests.Beta", "UDITests.Gamma", "UDITests.Beta"]))
    #expect(labels(error) == ["UDITests.Alpha", "UDITests.Beta", "UDITests.Gamma", "UDITests.Beta"])
    #expect(
      error?.description.hasPrefix(
        "UDITests.Beta → UDITests.Gamma → UDITests.Beta: each of these is needed to make the one before.\n") == true)
  }

  @Test("Who waits for what another thread makes gets the way from there, behind its own")
  func waiting() {
    for _ in 0..<50 {
      let root = UDIContext(tag: "App")
      let coming = Meeting(2)
      root.register((any Gamma).self, lifetime: .context) { context in
        coming.arrive()
        return Made(parts: [try context.require((any Other).self)])
      }
      root.register((any Alpha).self) { context in Made(parts: [try context.require((any Gamma).self)]) }
      root.register((any Beta).self) { context in
        coming.arrive()
        return Made(parts: [try context.require((any Gamma).self)])
      }
      onThreads([
        {
          let error = #expect(throws: UDILinkError.self) { try root.require((any Alpha).self) }
          #expect(labels(error) == ["UDITests.Alpha", "UDITests.Gamma", "UDITests.Other"])
        },
        {
          let error = #expect(throws: UDILinkError.self) { try root.require((any Beta).self) }
          #expect(labels(error) == ["UDITests.Beta", "UDITests.Gamma", "UDITests.Other"])
        },
      ])
    }
  }

  @Test("A factory's own error is passed on as it is")
  func ownErrors() {
    struct Wrapped: Error { let inner: any Error }
    root.register((any Alpha).self) { context throws -> Made in
      do { return Made(parts: [try context.require((any Beta).self)]) } catch { throw Wrapped(inner: error) }
    }
    let error = #expect(throws: Wrapped.self) { try Member().attached(to: root).require((any Alpha).self) }
    #expect((error?.inner as? UDILinkError)?.chain.count == 1)
  }

  @Test("An object that is attached to nothing, or whose context is gone, is the first step; with arguments, too")
  func unattached() throws {
    withAppContext(root) {
      let member = Member()
      let line = #line + 1
      let error = #expect(throws: UDILinkError.self) { try member.require((any Alpha).self) }
      #expect(error?.cause == .unattached("Member") && labels(error) == ["UDITests.Member", "UDITests.Alpha"])
      #expect(error?.chain.first?.line == line)
      // The first line says it already.
      #expect(
        error?.description.hasPrefix("The Member that asks is attached to nothing, so the lookup began at AppContext")
          == true)
      #expect(error?.description.contains("needs it") == false)
      let other = #expect(throws: UDILinkError.self) { try member.require((any Alpha).self, with: 5) }
      #expect(other?.cause == .unattached("Member") && labels(other) == ["UDITests.Member", "UDITests.Alpha"])
    }
    let member: Member
    do {
      let owner = UDIContext(tag: "owner")
      owner.register((any Service).self, lifetime: .context) { Member() }
      member = try #require(owner.link((any Service).self) as? Member)
    }
    withReporter(.silent) {
      for error in [
        #expect(throws: UDILinkError.self) { try member.require((any Other).self) },
        #expect(throws: UDILinkError.self) { try member.require((any Other).self, with: 5) },
      ] {
        #expect(error?.cause == .contextGone && labels(error) == ["UDITests.Member", "UDITests.Other"])
      }
    }
  }

  @Test("What a link reports names the object that asked")
  func reports() {
    let alpha = #line + 1
    root.register((any Alpha).self) { context in Made(parts: [try context.require((any Beta).self)]) }
    root.register((any Gamma).self) { (_, _: Int) throws -> Made in throw OutOfOrder() }
    let member = Member().attached(to: root)
    let line = #line + 2
    let (_, misuse) = MisuseLog.during {
      _ = member.linkInLine((any Alpha).self)
      _ = member.link((any Gamma).self, with: 5)
      _ = root.link((any Gamma).self, with: 5)
    }
    #expect(misuse.count == 3 && misuse.allSatisfy { $0.kind == .notMade })
    #expect(
      misuse[0].message == """
        No UDITests.Beta is registered in this tree. UDITests.Alpha needs it, for UDITests.Member. \
        UDITests.Member (\(file):\(line)) → UDITests.Alpha (\(file):\(alpha)) → UDITests.Beta. \
        Provide or bind one as UDITests.Beta, or register a provider.
        """)
    #expect(
      misuse[1].message
        == "The factory of UDITests.Gamma, called for UDITests.Member (\(file):\(line + 1)), threw: OutOfOrder(code: 7)"
    )
    #expect(misuse[2].message == "The factory of UDITests.Gamma threw: OutOfOrder(code: 7)")
  }

  @Test("Of a long way the ends are shown")
  func longWay() throws {
    for index in 0..<100 {
      root.register((any Alpha).self, named: "\(index)") { context in
        Made(parts: [try context.require((any Alpha).self, named: "\(index + 1)")])
      }
    }
    let error = try #require(#expect(throws: UDILinkError.self) { try root.require((any Alpha).self, named: "0") })
    #expect(error.chain.count == 101 && error.chain.map(\.name) == (0...100).map { "\($0)" })
    let lines = error.description.split(separator: "\n")
    #expect(
      lines[0].hasSuffix(
        """
        UDITests.Alpha named "99" needs it, for UDITests.Alpha named "98", for UDITests.Alpha named "97", \
        and so on up to UDITests.Alpha named "0".
        """))
    #expect(lines[1].components == 17 && lines[1].contains(#" → … 85 more … → UDITests.Alpha named "93" ("#))
  }

  @Test("A failed provider tells for whom something was missing")
  func inFailures() {
    root.register((any Alpha).self) { context in Made(parts: [try context.require((any Beta).self)]) }
    root.register((any Beta).self) { context in Made(parts: [try context.require((any Gamma).self)]) }
    withReporter(.silent) { #expect(root.link((any Alpha).self) == nil) }
    guard case .failed(_, let message) = root.explain((any Alpha).self).cause else {
      Issue.record("it failed")
      return
    }
    #expect(message == "No UDITests.Gamma is registered in this tree. UDITests.Beta needs it.")
  }
}

extension Substring {
  fileprivate var components: Int { split(separator: " → ").count }
}
