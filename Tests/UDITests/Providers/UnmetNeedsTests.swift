import Foundation
import Testing
import UDIInspector

@testable import UDI

private protocol P0: AnyObject, Sendable {}
private protocol P1: AnyObject, Sendable {}
private protocol P2: AnyObject, Sendable {}
private protocol P3: AnyObject, Sendable {}
private protocol P4: AnyObject, Sendable {}
/// A part of a program, made of other parts.
private final class Part: P0, P1, P2, P3, P4 {
  init() {}
  init(p0: any P0) {}
  init(p1: any P1) {}
  init(p2: any P2) {}
  init(p3: any P3) {}
  init(p1: any P1, p2: any P2) {}
  init(maybe: (any P1)?) {}
  init(p4: any P4, maybe: (any P1)?) async throws {}
}
/// Fails the test if it is made.
private final class Untouched: P3, P4 {
  init() { Issue.record("made") }
  init(p1: any P1) { Issue.record("made") }
}

/// `unmetNeeds`: what is found, with its path, and what is not known.
@Suite struct UnmetNeedsTests {
  let root = UDIContext(tag: "root")

  /// The types that lead to each unmet need, the position of the parameter, the cause, and the path.
  private func unmet(_ context: UDIContext? = nil) -> [String] { found((context ?? root).unmetNeeds().failures) }
  private func found(_ failures: [UDIFailure]) -> [String] {
    failures.map { failure in
      guard let error = failure.error as? UDILinkError else { return "\(failure.error)" }
      let chain = error.chain.map { String($0.typeName.suffix(2)) + ($0.parameter.map { ":\($0)" } ?? "") }
      let cause =
        switch error.cause {
        case .cycle(let path): "cycle \(path.map { $0.suffix(2) }.joined(separator: ">"))"
        default: String("\(error.cause)".prefix { $0 != "(" })
        }
      return "\(failure.fullPath.joined(separator: "/")) \(chain.joined(separator: " ")) \(cause)"
    }
  }

  @Test func whatIsThereIsNotUnmet() {
    let line = #line + 2
    root.register((any P0).self, lifetime: .context, using: Part.init(p1:p2:))
    root.register((any P1).self) { _ in Part() }
    root.register((any P2).self, lifetime: .graph, using: Part.init(p3:))
    let bound = Part()
    root.bind(bound, as: (any P3).self)
    // A closure that takes no context counts as one that needs nothing.
    root.register((any P4).self) { Part() }
    root.register(Part.self) { () async throws in Part() }
    let result = root.unmetNeeds()
    #expect(result.failures.isEmpty)
    // What the other closure looks up is not known.
    #expect(
      result.description == """
        All known needs are met.
        What closures need is not known:
          \(result.unchecked[0])
        """)
    #expect(
      result.unchecked.map(\.description)
        == ["UDITests.(private).P1 in \"root\", at UDITests/UnmetNeedsTests.swift:\(line)"])
    withExtendedLifetime(bound) {}
  }

  @Test func nothingIsMade() {
    root.register((any P3).self, lifetime: .context) { Untouched() }
    root.register((any P1).self, lifetime: .unique, using: Part.init(p3:))
    root.register((any P4).self, lifetime: .context, using: Untouched.init(p1:))
    root.register((any P0).self, lifetime: .context, using: Part.init(p4:maybe:))
    #expect(unmet() == [])
  }

  /// Each mistake, what is registered, and what is said about it.
  private struct Mistake: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let found: [String]
    let register: @Sendable (UDIContext) throws -> Void

    init(_ name: String, _ found: String..., register: @escaping @Sendable (UDIContext) throws -> Void) {
      (testDescription, self.found, self.register) = (name, found, register)
    }
  }

  private static let mistakes = [
    Mistake("missing", "root P0:1 P1 notRegistered") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("the second parameter", "root P0:2 P2 notRegistered") {
      $0.register((any P1).self) { Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:p2:))
    },
    Mistake("both parameters", "root P0:1 P1 notRegistered", "root P0:2 P2 notRegistered") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:p2:))
    },
    Mistake("missing further on", "root P0:1 P1:1 P2 notRegistered") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
      $0.register((any P1).self, lifetime: .context, using: Part.init(p2:))
    },
    Mistake("missing for what is unique", "root P0:1 P1:1 P2 notRegistered") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
      $0.register((any P1).self, lifetime: .unique, using: Part.init(p2:))
    },
    Mistake("only below", "root P0:1 P1 outOfReach") {
      try $0.makeChild(tag: "child").register((any P1).self) { Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("in a sibling", "root/a P0:1 P1 outOfReach") {
      try $0.makeChild(tag: "b").register((any P1).self) { Part() }
      try $0.makeChild(tag: "a").register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("in a scope", "root P0:1 P1 inScope") {
      try $0.makeScope(tag: "scope").register((any P1).self) { Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("under a name", "root P0:1 P1 otherNames") {
      $0.register((any P1).self, named: "x") { Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("under another type", "root P0:1 P1 notRegistered") {
      $0.register(Part.self) { Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("dead", "root P0:1 P1 dead") {
      $0.bind(Part(), as: (any P1).self)
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("with arguments", "root P0:1 P1 otherArguments") {
      $0.register((any P1).self) { (_, _: Int) in Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("needs itself", "root P0:1 P0 cycle P0>P0") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p0:))
    },
    Mistake("a circle", "root P0:1 P1:1 P0 cycle P0>P1>P0") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
      $0.register((any P1).self, lifetime: .context, using: Part.init(p0:))
    },
    Mistake("a circle further on", "root P0:1 P1:1 P2:1 P1 cycle P1>P2>P1") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
      $0.register((any P1).self, lifetime: .graph, using: Part.init(p2:))
      $0.register((any P2).self, lifetime: .graph, using: Part.init(p1:))
    },
    Mistake("a circle by way of another type", "root P0:1 P1:1 P0 cycle P0>P1>P0") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p2:))
      $0.register((any P1).self, lifetime: .context, using: Part.init(p0:)).implements((any P2).self)
    },
    Mistake("a captive", "root P0:1 P1 noScope") {
      $0.register((any P1).self, lifetime: .scope) { Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("a captive by way of another", "root P0:1 P2:1 P1 noScope") {
      $0.register((any P1).self, lifetime: .scope) { Part() }
      $0.register((any P2).self, lifetime: .unique, using: Part.init(p1:))
      $0.register((any P0).self, lifetime: .context, using: Part.init(p2:))
    },
    Mistake("a captive of what may be missing", "root P1:1 P2 noScope") {
      $0.register((any P2).self, lifetime: .scope) { Part() }
      $0.register((any P1).self, lifetime: .context, using: Part.init(p2:))
      $0.register((any P0).self, lifetime: .context, using: Part.init(maybe:))
    },
    Mistake("a circle in what may be missing", "root P0:1 P1:1 P2:1 P1 cycle P1>P2>P1") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(maybe:))
      $0.register((any P1).self, lifetime: .context, using: Part.init(p2:))
      $0.register((any P2).self, lifetime: .context, using: Part.init(p1:))
    },
    Mistake("missing in a new scope", "root P0:1 P1 notRegistered") {
      $0.register((any P0).self, lifetime: .scope, using: Part.init(p1:))
    },
    Mistake("missing in one of two scopes", "root/b P0:1 P1 inScope") {
      $0.register((any P0).self, lifetime: .scope, using: Part.init(p1:))
      try $0.makeScope(tag: "a").register((any P1).self) { Part() }
      try $0.makeScope(tag: "b")
    },
    Mistake("a circle in a scope", "root P0:1 P1:1 P0 cycle P0>P1>P0") {
      $0.register((any P0).self, lifetime: .scope, using: Part.init(p1:))
      $0.register((any P1).self, lifetime: .scope, using: Part.init(p0:))
    },
    Mistake("missing for what is asynchronous", "root P0:1 P4 notRegistered") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(p4:maybe:))
    },
  ]

  @Test(arguments: mistakes) private func eachMistakeIsFound(_ mistake: Mistake) throws {
    try withReporter(.silent) { try mistake.register(root) }
    #expect(unmet() == mistake.found)
  }

  @Test(arguments: mistakes) private func allAreFoundBesideWhatIsRight(_ mistake: Mistake) throws {
    let home = try root.makeChild(tag: "home")
    home.register((any P3).self, lifetime: .context) { Part() }
    home.register((any P4).self, lifetime: .context, using: Part.init(p3:))
    try withReporter(.silent) { try mistake.register(root.makeChild(tag: "other")) }
    #expect(unmet().count == mistake.found.count)
  }

  @Test func whatIsMadeForScopesIsCheckedFromTheScopes() throws {
    root.register((any P0).self, lifetime: .scope, using: Part.init(p1:))
    root.register((any P2).self, lifetime: .unique, using: Part.init(p1:))
    #expect(unmet().count == 2)
    let sample = try root.makeChild(tag: "home").makeScope(tag: "sample")
    sample.provide(Part() as any P1, as: (any P1).self)
    #expect(unmet() == [] && unmet(sample) == [])
    sample.unregister((any P1).self)
    #expect(unmet(sample) == ["root/home/sample P0:1 P1 notRegistered"])
  }

  /// What nobody can find from a scope, because the scope has something else, is not checked for it.
  @Test(arguments: [UDILifetime.scope, .unique, .graph])
  func whatAScopeHidesIsNotCheckedForIt(_ lifetime: UDILifetime) throws {
    root.register((any P0).self, lifetime: lifetime, using: Part.init(p1:))
    let (guest, visitor) = (try root.makeScope(tag: "guest"), try root.makeScope(tag: "visitor"))
    if lifetime == .scope { try root.makeScope(tag: "session").provide(Part() as any P1, as: (any P1).self) }
    #expect(unmet().count == 2)
    guest.register((any P0).self, lifetime: .context) { Part() }
    let cause = lifetime == .scope ? "inScope" : "notRegistered"
    #expect(unmet() == ["root/visitor P0:1 P1 \(cause)"] && unmet(guest) == [])
    let bound = Part()
    visitor.bind(bound, as: (any P0).self)
    #expect(unmet() == [] && unmet(visitor) == [])
  }

  /// What each lookup makes may be meant for scopes of one kind, inside those of others.
  @Test(arguments: [UDILifetime.unique, .graph])
  func oneScopeIsEnoughForWhatEachLookupMakes(_ lifetime: UDILifetime) throws {
    root.register((any P1).self, lifetime: .scope("inner")) { Part() }
    root.register((any P0).self, lifetime: lifetime, using: Part.init(p1:))
    let outer = try root.makeScope(tag: "outer")
    #expect(unmet() == ["root/outer P0:1 P1 noScope"])
    let inner = try outer.makeScope(tag: "inner")
    #expect(unmet() == [] && unmet(outer) == [] && unmet(inner) == [])
  }

  /// What is hidden under one type may be found under another one.
  @Test(arguments: [UDILifetime.scope, .unique])
  func whatServesAnotherTypeIsCheckedUnlessBothAreHidden(_ lifetime: UDILifetime) throws {
    root.register((any P0).self, lifetime: lifetime, using: Part.init(p1:)).implements((any P2).self)
    let scope = try root.makeScope(tag: "scope")
    #expect(unmet().count == 1)
    scope.register((any P0).self, lifetime: .context) { Part() }
    #expect(unmet() == ["root/scope P0:1 P1 notRegistered"])
    scope.register((any P2).self, lifetime: .context) { Part() }
    #expect(unmet() == [] && unmet(scope) == [])
  }

  /// An optional parameter that is part of a circle, or for which there is no scope, is nil, and is mentioned.
  private static let optionals = [
    Mistake("a captive", "root P0:1 P1 noScope") {
      $0.register((any P1).self, lifetime: .scope) { Part() }
      $0.register((any P0).self, lifetime: .context, using: Part.init(maybe:))
    },
    Mistake("a captive of what is unique", "root/other P0:1 P1 noScope") {
      $0.register((any P1).self, lifetime: .scope("room")) { Part() }
      $0.register((any P0).self, lifetime: .unique, using: Part.init(maybe:))
      try $0.makeScope(tag: "other")
    },
    Mistake("needs itself", "root P1:1 P1 cycle P1>P1") {
      $0.register((any P1).self, lifetime: .context, using: Part.init(maybe:))
    },
    Mistake("a circle, optional at its end", "root P1:1 P0:1 P1 cycle P1>P0>P1") {
      $0.register((any P1).self, lifetime: .context, using: Part.init(p0:))
      $0.register((any P0).self, lifetime: .context, using: Part.init(maybe:))
    },
    Mistake("a circle, optional at its beginning", "root P0:1 P1 cycle P0>P1>P2>P0") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(maybe:))
      $0.register((any P1).self, lifetime: .graph, using: Part.init(p2:))
      $0.register((any P2).self, lifetime: .weak, using: Part.init(p0:))
    },
    Mistake("a circle by way of another type", "root P0:1 P1 cycle P0>P2>P0") {
      $0.register((any P0).self, lifetime: .context, using: Part.init(maybe:))
      $0.register((any P2).self, lifetime: .context, using: Part.init(p0:)).implements((any P1).self)
    },
  ]

  @Test(arguments: optionals) private func anOptionalThatCannotBeMadeIsNil(_ mistake: Mistake) async throws {
    try mistake.register(root)
    let result = root.unmetNeeds()
    #expect(result.failures.isEmpty && found(result.nilParameters) == mistake.found)
    let text = "All known needs are met.\nOne dependency must do without a parameter: "
    #expect(result.description.hasPrefix(text))
    // The lookups say the same, wherever they begin, whether they wait or not.
    let lookups: [@Sendable (UDIContext, Bool) async throws -> Void] = [
      { _ = $1 ? try await $0.obtain((any P0).self) : try $0.require((any P0).self) },
      { _ = $1 ? try await $0.obtain((any P1).self) : try $0.require((any P1).self) },
      { _ = $1 ? try await $0.obtain((any P2).self) : try $0.require((any P2).self) },
    ]
    for first in lookups.indices {
      for waits in [false, true] {
        let other = UDIContext(tag: "root")
        try mistake.register(other)
        for lookup in lookups[first...] + lookups[..<first] {
          do { try await lookup(other, waits) } catch let error as UDILinkError {
            // Asked for directly, what is not registered or has no scope is an error.
            if case .cycle = error.cause { Issue.record("\(error)") }
            #expect(error.chain.count == 1)
          }
        }
      }
    }
    let other = UDIContext(tag: "root")
    try mistake.register(other)
    try await other.warmUp()
  }

  @Test func aScopeMayOwnWhatIsMadeOfItsOwn() throws {
    root.register((any P1).self, lifetime: .scope) { Part() }
    root.register((any P2).self, lifetime: .unique, using: Part.init(p1:))
    let scope = try root.makeScope(tag: "scope")
    scope.register((any P0).self, lifetime: .context, using: Part.init(p1:p2:))
    #expect(unmet() == [])
  }

  @Test func whatMayBeMissingIsNotUnmet() {
    root.register((any P0).self, lifetime: .context, using: Part.init(maybe:))
    #expect(unmet() == [])
  }

  @Test func theErrorIsThatOfTheLookup() throws {
    root.register((any P0).self, lifetime: .context, using: Part.init(p1:))
    root.register((any P1).self, lifetime: .context, using: Part.init(p2:))
    let result = root.unmetNeeds()
    let failure = try #require(result.failures.first)
    let error = #expect(throws: UDILinkError.self) { try root.require((any P0).self) }
    let found = try #require(failure.error as? UDILinkError)
    #expect(found.chain == error?.chain && found.cause == error?.cause)
    #expect(error.map { "\($0)" } == "\(found)")
    #expect(failure.typeName.hasSuffix("P1") && failure.fullPath == ["root"])
    #expect(result.description.hasPrefix("One dependency cannot be made: "))
  }

  @Test func manyAreCheckedOnce() throws {
    // Each needs two of the next level, so there are 2^4 ways to the last.
    root.register((any P0).self, lifetime: .context, using: Part.init(p1:p2:))
    root.register((any P1).self, lifetime: .unique, using: Part.init(p3:))
    root.register((any P2).self, using: Part.init(p3:))
    root.register((any P3).self, using: Part.init(p0:))
    #expect(unmet().count == 1)
  }

  @MainActor @Test func mainActorRegistrations() {
    root.register(Pane.self, lifetime: .context, using: Pane.init(frame:))
    #expect(root.unmetNeeds().failures.map { String($0.typeName.suffix(4)) } == ["Pane"])
    root.register(Frame.self) { Frame() }
    #expect(root.unmetNeeds().failures.isEmpty)
  }
}

@MainActor private final class Frame {}
@MainActor private final class Pane { init(frame: Frame) {} }

/// A circle through an optional parameter, whose two ends are asked for at the same time.
@Suite(.unlessItHangs) struct OptionalCircleTests {
  private final class Slow: Sendable {}

  private final class Account: Sendable {
    let sync: Sync?
    init(sync: Sync?) { self.sync = sync }
  }

  private final class Sync: Sendable {
    let account: Account
    init(slow: Slow, account: Account) { self.account = account }
  }

  /// Whatever comes first, both are there, and the optional parameter is nil.
  @Test(arguments: [false, true], [false, true])
  func bothEndsAtOnce(_ syncFirst: Bool, _ joins: Bool) async throws {
    let root = UDIContext(tag: "root")
    let (asks, goesOn) = (Signal(), Signal())
    root.register(Slow.self) { () async throws in
      asks.send()
      await goesOn.wait()
      return Slow()
    }
    root.register(isolation: nil, using: Account.init(sync:))
    root.register(isolation: nil, using: Sync.init(slow:account:))
    #expect(root.unmetNeeds().failures.isEmpty)
    let sync = { @Sendable in try await root.obtain(Sync.self) }
    let account = { @Sendable in try await root.obtain(Account.self) }
    let first = Task { if syncFirst { _ = try await sync() } else { _ = try await account() } }
    await asks.wait()
    let second = Task { if syncFirst { _ = try await account() } else { _ = try await sync() } }
    let third = Task { if joins { _ = try await sync() } }
    for _ in 0..<100 { await Task.yield() }
    goesOn.send()
    for task in [first, second, third] { try await task.value }
    let made = try await account()
    #expect(made.sync == nil)
    #expect(try await sync().account === made)
  }

  /// The same on two threads, with `require`.
  @Test(arguments: [false, true]) func bothEndsOnTwoThreads(_ syncFirst: Bool) async throws {
    let root = UDIContext(tag: "root")
    let (asks, goesOn, done) = (Latch(), DispatchSemaphore(value: 0), Latch(2))
    root.register(Slow.self) {
      asks.arrive()
      goesOn.wait()
      return Slow()
    }
    root.register(isolation: nil, using: Account.init(sync:))
    root.register(isolation: nil, using: Sync.init(slow:account:))
    let failures = Locked<[String]>([])
    @Sendable func ask(_ isForSync: Bool) {
      Thread.detachNewThread {
        do {
          if isForSync { _ = try root.require(Sync.self) } else { _ = try root.require(Account.self) }
        } catch { failures.withLock { $0.append("\(error)") } }
        done.arrive()
      }
    }
    ask(syncFirst)
    await asks.wait()
    ask(!syncFirst)
    await eventually { root.change { node, _ in node.allProviders.contains { $0.creation?.isWanted == true } } }
    goesOn.signal()
    await done.wait()
    #expect(failures.withLock { $0 } == [])
    #expect(try root.require(Sync.self).account === root.require(Account.self))
  }
}
