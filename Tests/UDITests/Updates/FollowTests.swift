import Testing
import TreeModel
import UDITesting

@testable import UDI

@MainActor private protocol Cart: AnyObject { var label: String { get } }

@MainActor private final class LiveCart: Cart {
  let label: String
  init(_ label: String) { self.label = label }
}

@MainActor private class Screen: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  var seen: [String?] = []

  func didAttachContext() {
    follow((any Loose).self) { screen, found in
      MainActor.preconditionIsolated()
      screen.seen.append(found?.label)
    }
  }

  final func take() -> [String?] {
    defer { seen = [] }
    return seen
  }
}

/// A class that follows something else than its superclass, in addition.
private final class CartScreen: Screen {
  var carts: [String?] = []

  override func didAttachContext() {
    super.didAttachContext()
    follow((any Cart).self) { screen, cart in screen.carts.append(cart?.label) }
  }
}

private actor Desk: UDIObject {
  nonisolated let _attachedContext = UDIAttachment()
  private(set) var seen: [String?] = []

  nonisolated func didAttachContext() {
    follow((any Loose).self) { counter, found in counter.seen.append(found?.label) }
  }

  func followDraft() {
    follow((any Loose).self, named: "draft") { counter, found in counter.seen.append(found?.label) }
  }
}

/// A class that is not isolated, and may be used from anywhere.
private final class Listener: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  let told = Tally()
}

/// A class that is neither isolated nor `Sendable`.
private final class Loner: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  var seen: [String?] = []
}

/// `follow`: a closure is called now and at each change.
@MainActor @Suite(.unlessItHangs) struct FollowTests {
  let root = UDIContext(tag: "root")

  @Test("The closure is called at once, and when the dependency comes, is replaced, and goes")
  func comesAndGoes() async {
    let screen = Screen().attached(to: root)
    #expect(screen.take() == [nil])
    var member: Member? = Member("first").attached(to: root)
    root.bind(member!, as: (any Loose).self)
    #expect(await settle([root]) && screen.take() == ["first"])
    let second = Plain("second")
    root.bind(second, as: (any Loose).self)
    #expect(await settle([root]) && screen.take() == ["second"])
    root.bind(member!, as: (any Loose).self)
    #expect(await settle([root]) && screen.take() == ["first"])
    weak let dead = member
    member = nil
    #expect(dead == nil, "nothing keeps the dependency alive")
    #expect(await settle([root]) && screen.take() == [nil])
    #expect(await settle([root]) && screen.take() == [])
  }

  @Test("Dependencies that belong to the main actor, and subclasses")
  func onTheMainActor() async {
    let cart = LiveCart("cart")
    let screen = CartScreen().attached(to: root)
    root.bind(cart, as: (any Cart).self)
    #expect(await settle([root]) && screen.carts == [nil, "cart"] && screen.take() == [nil])
    let loner = Loner().attached(to: root)
    loner.follow((any Cart).self) { loner, cart in
      MainActor.preconditionIsolated()
      loner.seen.append(cart?.label)
    }
    loner.follow((any Loose).self) { loner, loose in loner.seen.append(loose?.label) }
    #expect(loner.seen == ["cart", nil])
    root.unbind((any Cart).self)
    #expect(await settle([root]) && loner.seen == ["cart", nil, nil] && screen.carts == [nil, "cart", nil])
  }

  @Test("An actor is called on itself")
  func actors() async {
    let plain = Plain("plain")
    let counter = Desk().attached(to: root)
    await counter.followDraft()
    await eventually { await counter.seen.count >= 2 }
    root.bind(plain, as: (any Loose).self, named: "draft")
    await eventually { await counter.seen.count >= 3 }
    #expect(await counter.seen == [nil, nil, "plain"])
  }

  @Test("A Sendable object of no actor is called where its closure belongs")
  func sendable() async {
    let (root, plain) = (root, Plain("plain"))
    let listener = Listener().attached(to: root)
    var seen: [String?] = []
    listener.follow((any Loose).self) { @MainActor _, found in seen.append(found?.label) }
    #expect(seen == [nil])
    await Task.detached {
      listener.follow((any Loose).self) { listener, _ in listener.told.add() }
      #expect(listener.told.count == 1)
      root.bind(plain, as: (any Loose).self)
      await eventually { listener.told.count >= 2 }
    }.value
    #expect(await settle([root]) && seen == [nil, "plain"])
  }

  @Test("It ends when the object is attached elsewhere, and begins anew there; also out of a closed context")
  func objectMoves() async throws {
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let (inLeft, inRight) = (Plain("left"), Plain("right"))
    left.multiBind(inLeft, as: (any Loose).self)
    right.multiBind(inRight, as: (any Loose).self)
    let screen = Screen().attached(to: left)
    screen.attachedContext = right
    #expect(screen.take() == ["left", "right"])
    #expect(await settle([left, right]) && screen.take() == [])
    left.unbind((any Loose).self)
    #expect(await settle([left, right]) && screen.take() == [])
    right.unbind((any Loose).self)
    #expect(await settle([left, right]) && screen.take() == [nil])
    try await right.close()
    #expect(await settle([left, right]) && screen.take() == [])
    left.multiBind(inLeft, as: (any Loose).self)
    screen.attachedContext = left
    screen.attachedContext = left
    #expect(screen.take() == ["left", "left"])
    left.unbind((any Loose).self)
    #expect(await settle([left, right]) && screen.take() == [nil])
    #expect(left.nodeCountsOfWatchers == [2], "left and root")
  }

  @Test("When the context is closed, it goes on with what is above, and finds what a lookup from the context finds")
  func contextClosed() async throws {
    let middle = try root.makeChild(tag: "middle")
    let child = try middle.makeChild(tag: "child")
    let (above, own, second) = (Plain("above"), Plain("own"), Plain("second"))
    root.bind(above, as: (any Loose).self)
    let (screen, other) = (Screen().attached(to: child), Loner().attached(to: child))
    other.follow((any Loose).self, named: "own") { other, found in other.seen.append(found?.label) }
    child.bind(own, as: (any Loose).self, named: "own")
    #expect(await settle([root, middle, child]) && screen.take() == ["above"] && other.seen == [nil, "own"])
    try await middle.close()
    #expect(await settle([root, middle, child]) && screen.take() == [] && other.seen == [nil, "own", nil])
    root.bind(second, as: (any Loose).self)
    root.bind(second, as: (any Loose).self, named: "own")
    #expect(await settle([root, child]) && screen.take() == ["second"])
    // What a closed context had itself is not looked for further up.
    #expect(other.seen == [nil, "own", nil] && child.nodeCountsOfWatchers == [2, 2])
    root.unbind((any Loose).self)
    #expect(await settle([root, child]) && screen.take() == [nil])
  }

  @Test("It may begin in a closed context, on whatever actor, and goes on if what is above is closed, too, or goes")
  func beginsInClosedContext() async throws {
    let (top, middle) = (UDIContext(tag: "top"), try root.makeChild(tag: "middle"))
    try top.addChild(root)
    let scope = try middle.makeScope(tag: "scope")
    let (first, second) = (Plain("first"), Plain("second"))
    middle.bind(first, as: (any Loose).self)
    try await scope.close()
    let (screen, listener) = (Screen().attached(to: scope), Listener().attached(to: scope))
    await Task.detached {
      _ = listener.follow((any Loose).self) { @MainActor listener, _ in listener.told.add() }
    }.value
    #expect(await settle([scope]) && screen.take() == ["first"] && listener.told.count == 1)
    middle.unbind((any Loose).self)
    #expect(await settle([scope]) && screen.take() == [nil] && listener.told.count == 2)
    try await middle.close()
    top.bind(second, as: (any Loose).self)
    #expect(await settle([scope]) && screen.take() == ["second"] && listener.told.count == 3)
    root.removeFromParent()
    #expect(await settle([scope]) && screen.take() == [nil] && listener.told.count == 4)
    try top.addChild(root)
    #expect(await settle([scope]) && screen.take() == ["second"] && listener.told.count == 5)
    root.bind(first, as: (any Loose).self)
    #expect(await settle([scope]) && screen.take() == ["first"] && listener.told.count == 6)
  }

  @Test("While the context is being closed, what it has is found until it is closed")
  func contextBeingClosed() async throws {
    let scope = try root.makeScope(tag: "scope")
    scope.provide(Plain("own"), as: (any Loose).self).onClose { [root] _ in
      await Task { @MainActor in _ = await settle([root, scope]) }.value
    }
    let screen = Screen().attached(to: scope)
    try await scope.close()
    #expect(await settle([root, scope]) && screen.take() == ["own", nil])
  }

  @Test("What a closed scope would own is not found any more, which is no misuse")
  func ofClosedScope() async throws {
    root.register((any Loose).self, lifetime: .scope) { Plain("of the scope") }
    let scope = try root.makeScope(tag: "scope")
    let reports = try await misuse {
      let screen = Screen().attached(to: scope)
      try await scope.close()
      #expect(await settle([root, scope]) && screen.take() == ["of the scope", nil])
      root.register((any Loose).self, lifetime: .unique, replaces: true) { Plain("for all") }
      #expect(await settle([root, scope]) && screen.take() == ["for all"])
    }
    #expect(reports == [])
  }

  @Test("After random changes and closings, each follower has what a lookup finds", arguments: 0..<20)
  func randomClosings(seed: Int) async throws {
    var random = SplitMix(seed: UInt64(seed))
    var contexts = [root]
    for number in 1..<8 {
      let (above, isScope) = (contexts.randomElement(using: &random)!, Bool.random(using: &random))
      let tag = "\(number)"
      contexts.append(isScope ? try above.makeScope(tag: tag) : try above.makeChild(tag: tag))
    }
    let loners = contexts.map { Loner().attached(to: $0) }
    func follow(_ loner: Loner) { loner.follow((any Loose).self) { loner, found in loner.seen.append(found?.label) } }
    for loner in loners.dropLast(3) { follow(loner) }
    let plains = (0..<6).map { Plain("\($0)") }
    for step in 0..<30 {
      let context = contexts.randomElement(using: &random)!
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try await context.close()
      case 1, 2: _ = withReporter(.silent) { context.unbind((any Loose).self) }
      case 3:
        let plain = Plain("provided \(step)")
        _ = withReporter(.silent) { context.provide(plain, as: (any Loose).self, replaces: true) }
      default:
        withReporter(.silent) { context.bind(plains.randomElement(using: &random)!, as: (any Loose).self) }
      }
      if step == 15 { for loner in loners.suffix(3) { follow(loner) } }
      if Bool.random(using: &random) { continue }
      #expect(await settle(contexts))
      for (context, loner) in zip(contexts, loners) where !loner.seen.isEmpty {
        let found = context.link((any Loose).self)?.label
        #expect(loner.seen.last == .some(found), "seed \(seed), step \(step), \(context.tag)")
      }
    }
  }

  @Test("When the context goes, the closure is called with nil")
  func contextGoes() async {
    var made: UDIContext? = UDIContext(tag: "goes")
    let owned = Loner()
    made?.provide(Plain("plain"), as: (any Loose).self)
    made?.provide(owned, as: Loner.self)
    owned.follow((any Loose).self) { owned, found in owned.seen.append(found?.label) }
    #expect(owned.seen == ["plain"])
    made = nil
    while owned.seen.count < 2 { await Task.yield() }
    #expect(owned.seen == ["plain", nil])
  }

  @Test("When a context goes in which there was nothing, that is not told again")
  func contextGoesThatHadNothing() async {
    var made: UDIContext? = UDIContext(tag: "goes")
    let owned = Loner()
    made?.provide(owned, as: Loner.self)
    owned.follow((any Loose).self) { owned, found in owned.seen.append(found?.label) }
    #expect(owned.seen == [nil])
    made = nil
    for _ in 0..<100 { await Task.yield() }
    #expect(owned.seen == [nil])
  }

  @Test("It ends when the object is detached, dies, or is not wanted any more")
  func ends() async throws {
    let plain = Plain("plain")
    let screen = Screen().attached(to: root)
    withReporter(.silent) { screen.attachedContext = nil }
    #expect(screen.take() == [nil])
    var other: Screen? = Screen().attached(to: root)
    weak let dead = other
    other = nil
    #expect(dead == nil)
    let loner = Loner().attached(to: root)
    let following = loner.follow((any Loose).self) { loner, found in loner.seen.append(found?.label) }
    root.bind(plain, as: (any Loose).self)
    following.cancel()
    #expect(await settle([root]) && loner.seen == [nil] && screen.take() == [])
    #expect(root.nodeCountsOfWatchers == [])
  }

  @Test("The closure, and what it captures, is released with the object")
  func capture() async {
    weak var captured: Plain?
    var loner: Loner? = Loner().attached(to: root)
    do {
      let plain = Plain()
      captured = plain
      loner?.follow((any Loose).self) { [plain] _, _ in withExtendedLifetime(plain) {} }
    }
    #expect(captured != nil)
    loner = nil
    #expect(await settle([root]))
    await eventually { captured == nil }
  }

  @Test("The closure may bind, follow, and attach its object elsewhere")
  func reentrance() async throws {
    let (root, other) = (root, UDIContext(tag: "other"))
    let (first, second) = (Plain("first"), Plain("second"))
    let loner = Loner().attached(to: root)
    loner.follow((any Loose).self) { loner, found in
      loner.seen.append(found?.label)
      switch loner.seen.count {
      case 1: root.bind(first, as: (any Loose).self)
      case 2: root.bind(second, as: (any Loose).self)
      default: loner.attachedContext = other
      }
    }
    #expect(await settle([root]) && loner.seen == [nil, "first", "second"])
    root.unbind((any Loose).self)
    #expect(await settle([root]) && loner.seen == [nil, "first", "second"])
  }

  @Test("A factory that runs for the first call may attach the object elsewhere: then there is no call")
  func attachedElsewhereByAFactory() async {
    let (root, other, plain) = (root, UDIContext(tag: "other"), Plain())
    let listener = Listener().attached(to: root)
    root.register((any Loose).self) { [weak listener] in
      listener?.attachedContext = other
      return Plain("made")
    }
    listener.follow((any Loose).self) { listener, _ in listener.told.add() }
    #expect(await settle([root]) && listener.told.count == 0)
    root.bind(plain, as: (any Loose).self)
    #expect(await settle([root]) && listener.told.count == 0 && listener.attachedContext === other)
  }

  @Test("A change after which a lookup finds the same is not told")
  func theSame() async throws {
    let (screen, plain, other) = (Screen().attached(to: root), Plain("plain"), Plain("other"))
    root.bind(plain, as: (any Loose).self)
    #expect(await settle([root]) && screen.take() == [nil, "plain"])
    root.bind(plain, as: (any Loose).self)
    #expect(await settle([root]) && screen.take() == [])
    let child = try root.makeChild(tag: "child")
    child.bind(other, as: (any Loose).self)
    root.unbind((any Loose).self)
    root.bind(plain, as: (any Loose).self)
    #expect(await settle([root]) && screen.take() == [])
  }

  @Test("At the end of the context, what was there is gone; what was not is not told again", arguments: [true, false])
  func end(_ wasThere: Bool) async throws {
    let (loner, plain) = (Loner().attached(to: root), Plain("plain"))
    if wasThere { root.bind(plain, as: (any Loose).self) }
    loner.follow((any Loose).self) { loner, found in loner.seen.append(found?.label) }
    let following = loner.follow((any Loose).self) { loner, found in loner.seen.append(found?.label) }
    following.cancel()
    #expect(await settle([root]))
    loner.seen = []
    try await root.close()
    for _ in 0..<100 { await Task.yield() }
    #expect(loner.seen == (wasThere ? [nil] : []))
  }

  @Test("After 10,000 changes, the last is known, and nothing has grown")
  func manyChanges() async {
    let screen = Screen().attached(to: root)
    let plains = [Plain("0"), Plain("1")]
    for number in 0..<10_000 {
      root.bind(plains[number % 2], as: (any Loose).self)
      if number % 3 == 0 { await Task.yield() }
    }
    #expect(await settle([root]))
    #expect(screen.seen.count <= 10_001 && screen.seen.last == "1" && root.nodeCountsOfWatchers == [1])
    let loner = Loner().attached(to: root)
    for _ in 0..<1_000 { loner.follow((any Loose).self) { loner, _ in loner.seen = [] }.cancel() }
    #expect(await settle([root]) && root.nodeCountsOfWatchers == [1])
    #expect((unsafe loner._attachedContext.followers?.count ?? 0) <= 1)
  }
}
