import Foundation
import Testing
import UDI
import UDIInspector

/// What explanations say about a provider whose factory failed the last time it ran.
struct FailureTests {
  let root = UDIContext(tag: "App")
  let file = #fileID

  /// An error as servers report it.
  struct Refused: Error, CustomStringConvertible {
    var description = "connection refused"
  }

  /// What a factory does, one call after another: true makes an instance, false throws an error.
  final class Plan: Sendable {
    private let next: Locked<[Bool]>
    init(_ outcomes: [Bool]) { next = Locked(outcomes.reversed()) }
    func step() throws {
      if next.withLock({ $0.popLast() ?? true }) == false { throw Refused() }
    }
  }

  private func isFound(_ explanation: UDIExplanation) -> Bool {
    if case .found = explanation.cause { true } else { false }
  }

  private func isFailed(_ explanation: UDIExplanation) -> Bool {
    if case .failed(_, "connection refused") = explanation.cause { true } else { false }
  }

  @Test("A link that found a provider whose factory threw is explained by what it threw")
  func thrown() throws {
    let line = #line + 1
    root.register((any Alpha).self, lifetime: .context) { () throws -> Made in throw Refused() }
    #expect(isFound(root.explain((any Alpha).self)))
    let (found, misuse) = MisuseLog.during { root.link((any Alpha).self) }
    #expect(found == nil && misuse.count == 1)
    let explanation = root.explain((any Alpha).self)
    #expect(
      firstLine(of: explanation) == """
        UDITests.Alpha is registered in "App", at \(file):\(line), but its factory failed less than a second ago: \
        connection refused
        """)
    #expect(
      explanation.description.contains(
        "whose factory failed less than a second ago: connection refused, registered at"))
    guard case .failed(let place, let message) = explanation.cause else {
      Issue.record("it failed")
      return
    }
    #expect(place.fullPath == ["App"] && message == "connection refused")
    let failure = try #require(place.finding.failure)
    #expect(failure.message == message && failure.argumentTypes.isEmpty && failure.age.map { $0 >= .zero } == true)
  }

  @Test("It is told where nothing is recorded, as in release builds")
  func withoutRecords() async {
    // In a process of its own, because the switch affects the whole process.
    await #expect(processExitsWith: .success) {
      UDIRecording.isOn = false
      UDIReporter.process = .silent
      let root = UDIContext(tag: "App")
      root.register((any Alpha).self) { () throws -> Made in throw Refused() }
      #expect(root.link((any Alpha).self) == nil)
      #expect(firstLine(of: root.explain((any Alpha).self)).hasSuffix("connection refused"))
    }
  }

  @Test(
    "A success forgets it, whatever the lifetime, and also where it ends the quick way",
    arguments: [UDILifetime.unique, .graph, .weak, .context])
  func success(lifetime: UDILifetime) {
    /// Makes twice, fails, is made again, and fails once more.
    func check<Dependency: Sendable>(
      _ type: Dependency.Type, _ make: @escaping @Sendable () -> Dependency,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let plan = Plan([true, true, false, true, false])
      root.register(type, lifetime: lifetime) { () throws -> Dependency in
        try plan.step()
        return make()
      }
      withReporter(.silent) {
        for outcome in [true, true, false, true, false] {
          root.reset()
          let found = root.link(type)
          #expect((found != nil) == outcome, sourceLocation: sourceLocation)
          let explanation = root.explain(type)
          #expect(isFound(explanation) == outcome && isFailed(explanation) != outcome, sourceLocation: sourceLocation)
          withExtendedLifetime(found) {}
        }
      }
    }
    check((any Alpha).self) { Made() }
    check(Made.self) { Made() }
    check((any Loose).self) { Made() }
    check((any Service).self) { Member() }
    // A value is not kept weakly, which goes to the reporter, but made.
    check(Int.self) { 5 }
  }

  @Test("With arguments it says with which types; that they were the wrong ones is no failure of the factory")
  func arguments() {
    let line = #line + 1
    root.register((any Alpha).self) { (_, code: Int, _: any Sendable) throws -> Made in
      guard code > 0 else { throw OutOfOrder(code: code) }
      return Made()
    }
    withReporter(.silent) {
      #expect(root.link((any Alpha).self, with: "x") == nil)
      #expect(isFound(root.explain((any Alpha).self, with: 0, "x")))
      #expect(root.link((any Alpha).self, with: -1, "x") == nil)
    }
    #expect(
      firstLine(of: root.explain((any Alpha).self, with: 0, "x")) == """
        UDITests.Alpha is registered in "App", at \(file):\(line), but its factory failed with (Swift.Int, \
        Swift.String) less than a second ago: OutOfOrder(code: -1)
        """)
    guard case .otherArguments = root.explain((any Alpha).self, with: "x").cause else {
      Issue.record("the arguments decide")
      return
    }
    #expect(root.link((any Alpha).self, with: 1, "x") != nil)
    #expect(isFound(root.explain((any Alpha).self, with: 0, "x")))
  }

  @Test("A factory that returned nil, and an alias whose target failed or made something else")
  func otherFailures() {
    root.register((any Alpha).self) { nil }
    let plan = Plan([false])
    root.register((any Beta).self, lifetime: .context) { () throws -> Made in
      try plan.step()
      return Made()
    }.implements((any Gamma).self).implements((any Error).self)
    withReporter(.silent) {
      #expect(root.link((any Alpha).self) == nil)
      #expect(root.explain((any Alpha).self).cause == .factoryReturnedNil)
      // A factory that returned nil has not failed, and no text says so.
      #expect(
        root.explain((any Alpha).self).description.contains(", whose factory returned nil less than a second ago, reg"))
      #expect(!root.explain((any Alpha).self).description.contains("failed"))
      #expect(root.snapshot().description.contains("UDITests.Alpha: not made, context, factory returned nil\n"))
      #expect(root.link((any Gamma).self) == nil)
      #expect(isFailed(root.explain((any Gamma).self)) && isFailed(root.explain((any Beta).self)))
      #expect(root.link((any Gamma).self) != nil)
      #expect(isFound(root.explain((any Gamma).self)) && isFound(root.explain((any Beta).self)))
      #expect(root.link((any Error).self) == nil)
      #expect(root.explain((any Error).self).cause == .notConvertible(from: "UDITests.Beta"))
    }
  }

  #if DEBUG
    /// In a process of its own, because recorded lookups take that lock.
    @Test("A factory that returns nil once more takes no lock of all trees")
    func nilOnceMore() async {
      await #expect(processExitsWith: .success) {
        UDIRecording.isOn = false
        let root = UDIContext(tag: "App")
        root.register((any Alpha).self, lifetime: .unique) { nil }
        root.register((any Beta).self, lifetime: .graph) { nil }
        let link: @Sendable () -> Void = {
          if root.link((any Alpha).self) != nil || root.link((any Beta).self) != nil { fatalError("found something") }
        }
        link()
        let isDone = DispatchSemaphore(value: 0)
        let (looks, other) = (Tally(), Plain())
        root.bind(other, as: (any Service).self)
        Schedule.$hook.withValue({ point in
          // The tree lock is held here. Only a failure takes the time.
          guard point == .loadedToLook, looks.count == 0 else { return }
          looks.add()
          Thread.detachNewThread {
            link()
            isDone.signal()
          }
          if isDone.wait(timeout: .now() + 10) != .success { fatalError("it waits for the lock") }
        }) { _ = root.register((any Service).self) { Plain() } }
        if looks.count != 1 { fatalError("nothing was looked at") }
      }
    }
  #endif

  @Test("Whatever a factory did last counts: an instance, an error, or nil several times")
  func nilInTurn() {
    enum Outcome: CaseIterable { case made, threw, wasNil }
    let outcomes = Outcome.allCases.flatMap { first in Outcome.allCases.flatMap { [first, first, $0] } }
    let next = Locked<[Outcome]>([])
    root.register((any Alpha).self, lifetime: .unique) { () throws -> Made? in
      switch next.withLock({ $0.removeFirst() }) {
      case .made: return Made()
      case .threw: throw Refused()
      case .wasNil: return nil
      }
    }
    for outcome in outcomes {
      next.withLock { $0 = [outcome] }
      _ = MisuseLog.during { root.link((any Alpha).self) }
      let explanation = root.explain((any Alpha).self)
      switch outcome {
      case .made: #expect(isFound(explanation))
      case .threw: #expect(isFailed(explanation))
      case .wasNil: #expect(explanation.cause == .factoryReturnedNil)
      }
    }
  }

  @Test("What is kept is found, though a fresh one could not be made")
  func kept() {
    let plan = Plan([true, false])
    root.register((any Alpha).self, lifetime: .context) { () throws -> Made in
      try plan.step()
      return Made()
    }
    withReporter(.silent) {
      #expect(root.link((any Alpha).self) != nil)
      #expect(root.link((any Alpha).self, fresh: true) == nil)
    }
    let explanation = root.explain((any Alpha).self)
    #expect(isFound(explanation) && explanation.contexts[0].findings[0].failure?.message == "connection refused")
  }

  @Test("An error describes itself with no lock held, and is let go of at once")
  func description() {
    final class Meddler: Error, CustomStringConvertible {
      let root: UDIContext
      init(_ root: UDIContext) { self.root = root }
      deinit { root.unbind((any Other).self) }
      var description: String {
        // On another thread, which would wait for a lock that this thread held.
        onThreads(1) { [root] _ in
          let plain = Plain()
          root.bind(plain, as: (any Other).self)
          _ = root.link((any Other).self)
        }
        return "meddled"
      }
    }
    final class Last: Sendable {
      private nonisolated(unsafe) weak var error: Meddler?
      init() {}
      var isGone: Bool { unsafe error == nil }
      func note(_ error: Meddler) { unsafe self.error = error }
    }
    for lifetime in [UDILifetime.unique, .context] {
      let last = Last()
      root.register((any Alpha).self, lifetime: lifetime) { context throws -> Made in
        let error = Meddler(context)
        last.note(error)
        throw error
      }
      withReporter(.silent) { #expect(root.link((any Alpha).self) == nil) }
      #expect(last.isGone)
      #expect(firstLine(of: root.explain((any Alpha).self)).hasSuffix("ago: meddled"))
    }
  }

  @Test("Of a text of any length and with any characters one line is told")
  func boundedText() {
    root.register((any Alpha).self) { () throws -> Made in
      throw Refused(description: "a\nb" + String(repeating: "c", count: 100_000))
    }
    withReporter(.silent) { #expect(root.link((any Alpha).self) == nil) }
    guard case .failed(_, let message) = root.explain((any Alpha).self).cause else {
      Issue.record("it failed")
      return
    }
    #expect(message.count == 1001 && message.hasSuffix("c…"))
    #expect(firstLine(of: root.explain((any Alpha).self)).hasSuffix("c…"))
  }

  @Test("A snapshot says it, too")
  func snapshot() throws {
    let plan = Plan([false])
    root.register((any Alpha).self, lifetime: .context) { () throws -> Made in
      try plan.step()
      return Made()
    }
    withReporter(.silent) { #expect(root.link((any Alpha).self) == nil) }
    let snapshot = root.snapshot()
    #expect(snapshot.contexts[0].entries[0].failure?.message == "connection refused")
    #expect(
      snapshot.description == """
        ▸ App
          ◦ UDITests.Alpha: not made, context, factory failed: connection refused
        """)
    #expect(try JSONDecoder().decode(UDISnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
    #expect(root.link((any Alpha).self) != nil)
    #expect(root.snapshot().contexts[0].entries[0].failure == nil)
  }

  @Test("Where threads fail and succeed at once, the next success forgets it all the same")
  func race() {
    for _ in 0..<200 {
      let root = UDIContext(tag: "App")
      root.register((any Alpha).self, lifetime: .unique) { () throws -> Made in
        if Thread.current.name == "failing" { throw Refused() }
        return Made()
      }
      onThreads(2) { index in
        if index == 0 { Thread.current.name = "failing" }
        withReporter(.silent) { for _ in 0..<10 { _ = root.link((any Alpha).self) } }
      }
      #expect(root.link((any Alpha).self) != nil)
      #expect(isFound(root.explain((any Alpha).self)))
    }
  }
}
