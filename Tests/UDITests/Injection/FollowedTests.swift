import Foundation
import Observation
import Testing
import UDITesting

@testable import UDI

@MainActor private protocol Cart: AnyObject { var label: String { get } }

@MainActor private final class LiveCart: Cart, @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  let label: String
  init(_ label: String) { self.label = label }
}

@MainActor @Observable private final class Screen: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @ObservationIgnored @Followed var loose: (any Loose)?
  @ObservationIgnored @Followed var cart: (any Cart)?
  @ObservationIgnored @Followed(named: "draft") var draft: (any Loose)?
  @ObservationIgnored @Followed(named: "above", search: .ancestors) var above: (any Loose)?
}

/// A class that no actor isolates, and that is not observable itself.
private final class PlainScreen: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Followed var loose: (any Loose)?
}

@MainActor private final class Tags { var all: [String] = [] }

@Observable private final class Number: @unchecked Sendable { var number = 0 }

/// `Followed`: that a dependency comes and goes is observed.
@MainActor @Suite(.unlessItHangs) struct FollowedTests {
  let root = UDIContext(tag: "root")

  private func observe(_ screen: Screen) -> Observer<String?> { Observer { screen.loose?.label } }

  /// Lets everything run that a change has set off, and checks what has been read since.
  private func expect(
    _ observer: Observer<String?>, reads: [String?], _ contexts: UDIContext...,
    location: SourceLocation = #_sourceLocation
  ) async {
    #expect(await settle([root] + contexts), sourceLocation: location)
    #expect(observer.take() == reads, sourceLocation: location)
  }

  @Test("Coming, being replaced and going are told, and reads are never out of date")
  func comesAndGoes() async {
    let screen = Screen().attached(to: root)
    let observer = observe(screen)
    await expect(observer, reads: [nil])
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Loose).self)
    #expect(screen.loose?.label == "first")
    await expect(observer, reads: ["first"])
    root.bind(second, as: (any Loose).self)
    #expect(screen.loose?.label == "second")
    await expect(observer, reads: ["second"])
    root.unbind((any Loose).self)
    #expect(screen.loose == nil)
    await expect(observer, reads: [nil])
    #expect(observer.told == 3)
  }

  @Test("The death of an object is told at once")
  func dies() async {
    var member: Member? = Member("member").attached(to: root)
    root.bind(member!, as: (any Loose).self)
    let observer = observe(Screen().attached(to: root))
    await expect(observer, reads: ["member"])
    weak let dead = member
    member = nil
    #expect(dead == nil, "the property keeps nothing alive")
    await expect(observer, reads: [nil])
  }

  @Test("What a provider makes is told when it is made anew, and what a read makes is no news")
  func isRemade() async {
    let makings = Tally()
    root.register((any Loose).self, lifetime: .context) {
      makings.add()
      return Plain("number \(makings.count)") as any Loose
    }
    let observer = observe(Screen().attached(to: root))
    await expect(observer, reads: ["number 1"])
    root.reset()
    await expect(observer, reads: ["number 2"])
    #expect(root.link((any Loose).self)?.label == "number 2")
    await expect(observer, reads: [])
    root.register((any Loose).self, replaces: true) { Plain("fresh") as any Loose }
    await expect(observer, reads: ["fresh"])
    root.unregister((any Loose).self)
    await expect(observer, reads: [nil])
    #expect(makings.count == 2)
  }

  @Test(
    "What observers cause by reading does not cause them to read again",
    arguments: [UDILifetime.unique, .weak, .graph, .context], [true, false])
  func feedback(lifetime: UDILifetime, isBound: Bool) async {
    let makings = Tally()
    root.register((any Loose).self, lifetime: lifetime) {
      makings.add()
      return Member("made") { if isBound { $0.bind($0, as: (any Loose).self) } } as any Loose
    }
    let observers = (0..<2).map { _ in observe(Screen().attached(to: root)) }
    for observer in observers { await expect(observer, reads: ["made"]) }
    #expect(makings.count <= 2 && observers[0].told == 0 && observers[1].told == 0)
  }

  @Test("A value that a provider keeps is told when it is replaced")
  func values() async {
    struct Amount: Sendable { var number: Int }
    final class Till: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Followed var amount: Amount?
    }
    root.register(lifetime: .context) { Amount(number: 1) }
    let till = Till().attached(to: root)
    let observer = Observer { till.amount?.number }
    #expect(await settle([root]) && observer.take() == [1])
    root.provide(Amount(number: 2), replaces: true)
    #expect(await settle([root]) && observer.take() == [2])
  }

  @Test("Moves of contexts are told, as are bindings in scopes, as far as a lookup finds them")
  func moves() async throws {
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let scope = try left.makeScope(tag: "scope")
    let branch = try left.makeChild(tag: "branch")
    let (bound, inRoot) = (Plain("bound"), Plain("in root"))
    branch.multiBind(bound, as: (any Loose).self)
    let observer = observe(Screen().attached(to: left))
    await expect(observer, reads: ["bound"], left, right)
    try scope.addChild(branch)
    await expect(observer, reads: [nil], left, right)
    root.multiBind(inRoot, as: (any Loose).self)
    await expect(observer, reads: ["in root"], left, right)
    try left.addChild(branch)
    await expect(observer, reads: ["bound"], left, right)
    try right.addChild(branch)
    await expect(observer, reads: ["in root"], left, right)
    branch.removeFromParent()
    left.removeFromParent()
    await expect(observer, reads: [nil], left, right)
    #expect(observer.told == 5)
  }

  @Test("A session in a scope is told to a screen outside when it begins, and when its scope is closed")
  func session() async throws {
    let observer = observe(Screen().attached(to: root))
    let scope = try root.makeScope(tag: "session")
    scope.provide(
      Member("Ann") { [root] in $0.multiBind($0, as: (any Loose).self, in: [root]) }, as: (any Service).self)
    await expect(observer, reads: [nil, "Ann"])
    try await scope.close()
    await expect(observer, reads: [nil])
  }

  @Test("The end of the object's own context is told when it is over, but not when it begins: the answer is the same")
  func contextClosed() async throws {
    let child = try root.makeChild(tag: "child")
    let (began, mayEnd) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    child.register((any Service).self, lifetime: .context) {
      Plain() as any Service
    }.onClose { _ in
      began.continuation.finish()
      for await _ in mayEnd.stream {}
    }
    _ = try child.require((any Service).self)
    let member = Member("member").attached(to: child)
    child.bind(member, as: (any Loose).self)
    let observer = observe(Screen().attached(to: child))
    await expect(observer, reads: ["member"], child)
    async let closed: Void = child.close()
    for await _ in began.stream {}
    await expect(observer, reads: [], child)
    mayEnd.continuation.finish()
    try await closed
    await expect(observer, reads: [nil], child)
    await expect(observer, reads: [], child)
  }

  @Test("The property moves with its object, also out of a closed context")
  func objectMoves() async throws {
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let (inLeft, inRight) = (Plain("left"), Plain("right"))
    left.multiBind(inLeft, as: (any Loose).self)
    right.multiBind(inRight, as: (any Loose).self)
    let screen = Screen().attached(to: left)
    let observer = observe(screen)
    await expect(observer, reads: ["left"], left, right)
    screen.attachedContext = right
    await expect(observer, reads: ["right"], left, right)
    left.unbind((any Loose).self)
    await expect(observer, reads: [], left, right)
    right.unbind((any Loose).self)
    await expect(observer, reads: [nil], left, right)
    try await right.close()
    await expect(observer, reads: [], left, right)
    left.multiBind(inLeft, as: (any Loose).self)
    screen.attachedContext = left
    await expect(observer, reads: ["left"], left, right)
    withAppContext(root) { screen.attachedContext = nil }
    #expect(await settle([root, left]) && observer.told == 4)
  }

  @Test("In a closed context, observers are told of what is above")
  func inClosedContext() async throws {
    let scope = try root.makeScope(tag: "scope")
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Loose).self)
    let screen = Screen().attached(to: scope)
    let observer = observe(screen)
    await expect(observer, reads: ["first"], scope)
    try await scope.close()
    #expect(await settle([root, scope]) && observer.take().allSatisfy { $0 == "first" })
    root.bind(second, as: (any Loose).self)
    await expect(observer, reads: ["second"], scope)
    root.unbind((any Loose).self)
    await expect(observer, reads: [nil], scope)
  }

  @Test("So are those that begin there, also when that is closed, too; what a closed context had stays a miss")
  func beginsInClosedContext() async throws {
    let middle = try root.makeChild(tag: "middle")
    let scope = try middle.makeScope(tag: "scope")
    let (first, second, draft) = (Plain("first"), Plain("second"), Plain("draft"))
    scope.bind(draft, as: (any Loose).self, named: "draft")
    middle.bind(first, as: (any Loose).self)
    try await scope.close()
    let screen = Screen().attached(to: scope)
    let observer = Observer { [screen.loose?.label, screen.draft?.label] }
    #expect(await settle([root, scope]) && observer.take() == [["first", nil]])
    try await middle.close()
    // A read may have come before the context was closed, but after those who read had been told that it would be.
    #expect(await settle([root, scope]) && observer.take().last == [nil, nil] && observer.told > 0)
    root.bind(draft, as: (any Loose).self, named: "draft")
    root.bind(second, as: (any Loose).self, named: "other")
    root.bind(second, as: Plain.self)
    #expect(await settle([root, scope]) && observer.take().allSatisfy { $0 == [nil, nil] })
  }

  @Test("An object that is attached to nothing follows in AppContext", .ownAppContext)
  func unattached() async {
    let (screen, told, plain) = (Screen(), Tally(), Plain("plain"))
    for round in 1...2 {
      withObservationTracking {
        _ = screen.loose
      } onChange: {
        told.add()
      }
      if round == 1 { AppContext.bind(plain, as: (any Loose).self) } else { screen.attachedContext = root }
      #expect(await settle([AppContext, root]) && told.count == round)
    }
  }

  @Test("Observers are told with the AppContext and the reporter of the first read")
  func taskValues() async {
    let (own, plain, screen, tags, reports) = (UDIContext(tag: "own"), Plain("plain"), Screen(), Tags(), Tally())
    await withAppContext(own) {
      await withReporter(UDIReporter { _ in reports.add() }) {
        let observer = observe(screen)
        observer.onChange = {
          tags.all.append(AppContext.tag)
          UDIReporter.current.report(.notMade, "seen", at: UDICallSite("", 0))
        }
        await expect(observer, reads: [nil], own)
        Task.detached { own.bind(plain, as: (any Loose).self) }
        while tags.all.count < 1 { await Task.yield() }
        await expect(observer, reads: ["plain"], own)
        own.unbind((any Loose).self)
        await expect(observer, reads: [nil], own)
      }
    }
    #expect(tags.all == ["own", "own"] && reports.count == 2)
  }

  @Test("Dependencies that belong to the main actor, and those with names and searches")
  func onTheMainActor() async throws {
    let child = try root.makeChild(tag: "child")
    let screen = Screen().attached(to: child)
    let observer = Observer { [screen.cart?.label, screen.draft?.label, screen.above?.label] }
    func expectReads(_ values: [String?]..., location: SourceLocation = #_sourceLocation) async {
      #expect(await settle([root, child]), sourceLocation: location)
      #expect(observer.take() == values, sourceLocation: location)
    }
    await expectReads([nil, nil, nil])
    var cart: LiveCart? = LiveCart("cart").attached(to: root)
    root.bind(cart!, as: (any Cart).self)
    await expectReads(["cart", nil, nil])
    let (draft, plain) = (Plain("draft"), Plain("plain"))
    child.bind(draft, as: (any Loose).self, named: "draft")
    child.bind(plain, as: (any Loose).self)
    await expectReads(["cart", "draft", nil])
    root.bind(plain, as: (any Loose).self, named: "above")
    await expectReads(["cart", "draft", "plain"])
    cart = nil
    await expectReads([nil, "draft", "plain"])
    #expect(observer.told == 4)
  }

  @Test("10,000 changes are told once each, at most, and the last of them is told")
  func manyChanges() async {
    let screen = Screen().attached(to: root)
    let observer = observe(screen)
    let plains = [Plain("0"), Plain("1")]
    for number in 0..<10_000 {
      root.bind(plains[number % 2], as: (any Loose).self)
      if number % 3 == 0 { await Task.yield() }
    }
    #expect(await settle([root]))
    #expect(observer.told <= 10_000 && observer.told > 0)
    #expect(observer.take().last == "1")
    #expect(root.nodeCountsOfWatchers == [1])
    root.unbind((any Loose).self)
    await expect(observer, reads: [nil])
  }

  @Test("Changes on other threads are told on the main actor, and the last of them is told")
  func changesOnThreads() async {
    let observer = observe(Screen().attached(to: root))
    let (root, last) = (root, Plain("last"))
    for round in 0..<200 {
      await Task.detached {
        let plain = Plain("\(round)")
        root.bind(plain, as: (any Loose).self)
        if round % 2 == 0 { root.bind(last, as: (any Loose).self) } else { root.unbind((any Loose).self) }
      }.value
    }
    #expect(await settle([root]))
    #expect(observer.take().last == .some(nil))
    root.bind(last, as: (any Loose).self)
    await expect(observer, reads: ["last"])
  }

  @Test("Several observers are each told")
  func twoObservers() async {
    let screen = Screen().attached(to: root)
    let observers = [observe(screen), observe(screen), observe(Screen().attached(to: root))]
    let plain = Plain("plain")
    root.bind(plain, as: (any Loose).self)
    #expect(await settle([root]))
    for observer in observers { #expect(observer.take() == [nil, "plain"] && observer.told == 1) }
  }

  @Test("Observers may read and bind while they are told")
  func readsAndBinds() async {
    let screen = Screen().attached(to: root)
    let observer = observe(screen)
    let (first, second) = (Plain("first"), Plain("second"))
    var read: [String?] = []
    observer.onChange = { [root] in
      read.append(screen.loose?.label)
      if observer.told == 1 { root.bind(second, as: (any Loose).self) }
      read.append(screen.loose?.label)
    }
    root.bind(first, as: (any Loose).self)
    #expect(await settle([root]))
    #expect(read == ["first", "second"] && observer.take() == [nil, "second"] && observer.told == 1)
  }

  @Test("Code that belongs to no actor is told as well")
  func offTheMainActor() async {
    let (told, root, plain) = (Tally(), root, Plain("plain"))
    await Task.detached {
      let screen = PlainScreen().attached(to: root)
      let read = withObservationTracking {
        screen.loose?.label
      } onChange: {
        told.add()
      }
      #expect(read == nil)
      root.bind(plain, as: (any Loose).self)
      await eventually { told.count > 0 }
      #expect(screen.loose?.label == "plain")
    }.value
    #expect(told.count == 1)
  }

  @Test("Off the main actor, a change before the tracking ends is not told, as of any observable class; the next is")
  func changeWhileTracking() async {
    let (root, plain, number, toldOf) = (root, Plain("plain"), Number(), (dependency: Tally(), number: Tally()))
    let counts = Locked<[Int]>([])
    await onOwnThread {
      let screen = PlainScreen().attached(to: root)
      withObservationTracking {
        _ = screen.loose
        root.bind(plain, as: (any Loose).self)
        letTasksRun()
      } onChange: {
        toldOf.dependency.add()
      }
      withObservationTracking {
        _ = number.number
        number.number = 1
      } onChange: {
        toldOf.number.add()
      }
      counts.withLock { $0 += [toldOf.dependency.count, toldOf.number.count] }
      root.unbind((any Loose).self)
      number.number = 2
      letTasksRun()
      counts.withLock { $0 += [toldOf.dependency.count, toldOf.number.count] }
      withExtendedLifetime(screen) {}
    }
    #expect(counts.withLock { $0 } == [0, 0, 1, 1])
    #expect(root.nodeCountsOfWatchers == [])
  }

  @Test("Off the main actor, a value that is set before the tracking ends is not told, and ends the waiting")
  func setWhileTracking() async {
    let (root, told, waiting) = (root, Tally(), Locked<[Int]?>(nil))
    await onOwnThread {
      let screen = PlainScreen().attached(to: root)
      withObservationTracking {
        _ = screen.loose
        screen.loose = Plain("set")
        letTasksRun()
      } onChange: {
        told.add()
      }
      letTasksRun()
      waiting.withLock { $0 = root.nodeCountsOfWatchers }
      withExtendedLifetime(screen) {}
    }
    #expect(told.count == 0 && waiting.withLock { $0 } == [])
  }

  @Test("On the main actor, nothing is missed in 1,000 rounds")
  func missesNothing() async {
    let (root, screen, plain, told) = (root, Screen().attached(to: root), Plain("plain"), Tally())
    for round in 0..<1_000 {
      _ = withObservationTracking {
        let (read, isDone) = (screen.loose?.label, DispatchSemaphore(value: 0))
        // On another thread, at any time from now.
        Thread.detachNewThread {
          if round.isMultiple(of: 2) {
            root.bind(plain, as: (any Loose).self)
          } else {
            root.unbind((any Loose).self)
          }
          isDone.signal()
        }
        if round.isMultiple(of: 3) { isDone.wait() }
        return read
      } onChange: {
        told.add()
      }
      while told.count <= round { await Task.yield() }
      #expect(told.count == round + 1)
    }
  }

  @Test("A value that is set is told, and stays until nil is set")
  func setting() async {
    let screen = Screen().attached(to: root)
    let observer = observe(screen)
    screen.loose = Plain("fake")
    await expect(observer, reads: [nil, "fake"])
    let plain = Plain("plain")
    root.bind(plain, as: (any Loose).self)
    #expect(await settle([root]) && screen.loose?.label == "fake")
    screen.loose = nil
    #expect(await settle([root]) && observer.take().last == "plain")
  }

  @Test("Reading what only `obtain` can make is no misuse before it is made, observed or not", .ownAppContext)
  func asynchronous() async throws {
    root.register((any Loose).self, lifetime: .context) { () async in Plain("obtained") as any Loose }
    let screen = Screen().attached(to: root)
    #expect(screen.loose == nil)
    let observer = observe(screen)
    await expect(observer, reads: [nil])
    _ = try await root.obtain((any Loose).self)
    #expect(screen.loose?.label == "obtained")
    await expect(observer, reads: ["obtained"])
  }

  @Test("Other failures of a read are misuse, and so is what a factory fails to find meanwhile")
  func failures() async {
    root.register((any Loose).self) { @MainActor in Plain("plain") as any Loose }
    await Task.detached { [root] in
      let plain = PlainScreen().attached(to: root)
      let elsewhere = misuse { _ = plain.loose }
      #expect(elsewhere.map(\.kind) == [.notMade])
    }.value

    root.register(String.self, lifetime: .context) { () async in "obtained" }
    root.register((any Loose).self, replaces: true) { context in
      Plain(context.link(String.self) ?? "none") as any Loose
    }
    let plain = PlainScreen().attached(to: root)
    let inFactory = misuse { _ = plain.loose }
    #expect(inFactory.map(\.kind) == [.notMade])
  }

  @Test("A read that is not observed follows nothing, and neither does an observer that has been told")
  func untracked() async {
    let screen = Screen().attached(to: root)
    #expect(screen.loose == nil && root.nodeCountsOfWatchers == [])
    withObservationTracking {
      _ = screen.loose
    } onChange: {
    }
    #expect(root.nodeCountsOfWatchers == [1])
    let plain = Plain()
    root.bind(plain, as: (any Loose).self)
    #expect(await settle([root]) && root.nodeCountsOfWatchers == [])
    #expect(screen.loose != nil && root.nodeCountsOfWatchers == [])
  }

  @Test("An observed property keeps neither its object nor the context, and leaves nothing behind")
  func lifetimes() async {
    weak var screen: Screen?
    weak var context: UDIContext?
    do {
      let (own, made) = (UDIContext(tag: "own"), Screen())
      made.attachedContext = own
      (screen, context) = (made, own)
      withObservationTracking {
        _ = made.loose
      } onChange: {
      }
    }
    #expect(screen == nil && context == nil)
    await expectNoGrowth {
      let screen = Screen().attached(to: AppContext)
      let observer = observe(screen)
      let plain = Plain("plain")
      AppContext.bind(plain, as: (any Loose).self)
      #expect(await settle([AppContext]) && observer.take() == [nil, "plain"])
    }
  }

  #if compiler(>=6.2)
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test("Observations gives what is read, now and after each change")
    func observations() async {
      let screen = Screen().attached(to: root)
      var labels = Observations { screen.loose?.label ?? "nothing" }.makeAsyncIterator()
      #expect(await labels.next() == "nothing")
      let plain = Plain("plain")
      root.bind(plain, as: (any Loose).self)
      #expect(await labels.next() == "plain")
      root.unbind((any Loose).self)
      #expect(await labels.next() == "nothing")
    }
  #endif
}
