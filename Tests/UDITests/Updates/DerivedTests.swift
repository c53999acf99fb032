import Dispatch
import Observation
import Testing

@testable import UDI

/// What factories look up all of. Other tests make changes deep in large trees, and these take longer while somebody
/// follows all dependencies of their type.
private protocol Extra: AnyObject, Sendable {}
extension Plain: Extra {}
extension Member: Extra {}
private final class LooseScreen: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Followed var loose: (any Loose)?
}
private struct Session: Sendable, Equatable { let user: String }
private struct Feed: Sendable {
  let user: String
  init(session: Session) { user = session.user }
}
private struct Badge: Sendable {
  let user: String
  init(feed: Feed) { user = feed.user }
}
private struct Title: Sendable {
  let text: String
  init(badge: Badge) { text = badge.user }
}
private struct Greeting: Sendable {
  let text: String
  init(session: Session?) { text = session?.user ?? "nobody" }
}

/// What a provider makes of what comes and goes comes and goes with it.
@MainActor struct DerivedTests {
  let root = UDIContext(tag: "root")
  let makings = Tally()
  let calls = Tally()

  private func texts<Made: Sendable>(
    of type: Made.Type, named name: UDIName? = nil, from context: UDIContext? = nil, _ text: KeyPath<Made, String>
  ) -> FollowerOf<String?> {
    let follower = FollowerOf<String?>()
    let read = { @MainActor (made: Made?) -> String?? in .some(made?[keyPath: text]) }
    follower.follow((context ?? root).updates(of: type, named: name)) { read($0) }
    return follower
  }

  private func labels(from context: UDIContext? = nil, named name: UDIName? = nil) -> FollowerOf<String?> {
    texts(of: Made.self, named: name, from: context, \.label)
  }

  /// Registers something that is made of the labels of what is found in its context.
  private func register(
    _ name: UDIName? = nil, _ lifetime: UDILifetime = .unique, in context: UDIContext? = nil,
    _ text: @escaping @Sendable (UDIContext) throws -> String
  ) {
    let makings = makings
    (context ?? root).register(Made.self, named: name, lifetime: lifetime, isolation: nil) { context in
      let text = try text(context)
      makings.add()
      return Made(text)
    }
  }

  private func logIn(_ user: String, in context: UDIContext? = nil) {
    (context ?? root).provide(Session(user: user), replaces: true)
  }

  private func expect<Note: Equatable>(
    _ follower: FollowerOf<Note>, _ seen: [Note], _ others: UDIContext..., at line: SourceLocation = #_sourceLocation
  ) async {
    #expect(await settle([root] + others), "consumers keep themselves busy", sourceLocation: line)
    #expect(follower.take() == seen, sourceLocation: line)
  }

  @Test("Log-in and log-out, through one, two and three levels", arguments: [UDILifetime.unique, .graph, .weak])
  func levels(_ lifetime: UDILifetime) async throws {
    let (_, reports) = await MisuseLog.during {
      root.register(lifetime: lifetime == .weak ? .unique : lifetime, isolation: nil, using: Feed.init(session:))
      root.register(lifetime: lifetime == .weak ? .graph : lifetime, isolation: nil, using: Badge.init(feed:))
      root.register(lifetime: lifetime == .weak ? .unique : lifetime, isolation: nil, using: Title.init(badge:))
      let feed = texts(of: Feed.self, \.user), badge = texts(of: Badge.self, \.user)
      let title = texts(of: Title.self, \.text)
      for follower in [feed, badge, title] { await expect(follower, [nil]) }
      logIn("Ann")
      for follower in [feed, badge, title] { await expect(follower, ["Ann"]) }
      logIn("Bob")
      for follower in [feed, badge, title] { await expect(follower, ["Bob"]) }
      root.unregister(Session.self)
      for follower in [feed, badge, title] {
        await expect(follower, [nil])
        await follower.end()
      }
    }
    #expect(reports.isEmpty, "what is missing in a look is no mistake")
  }

  @Test("What is kept does not change with what it was made of, and comes when it can be made")
  func kept() async {
    for lifetime in [UDILifetime.context, UDILifetime("own", storage: .strong)] {
      root.register(lifetime: lifetime, replaces: true, isolation: nil, using: Feed.init(session:))
      let feed = texts(of: Feed.self, \.user)
      await expect(feed, [nil])
      logIn("Ann")
      await expect(feed, ["Ann"])
      logIn("Bob")
      root.unregister(Session.self)
      await expect(feed, [])
      logIn("Cleo")
      root.reset()
      await expect(feed, ["Cleo"])
      root.unregister(Session.self)
      await feed.end()
    }
  }

  @Test("What a kept part was made of does not matter to what is made of it")
  func keptPart() async {
    root.register(lifetime: .context, isolation: nil, using: Feed.init(session:))
    root.register(lifetime: .unique, isolation: nil, using: Badge.init(feed:))
    let badge = texts(of: Badge.self, \.user)
    await expect(badge, [nil])
    logIn("Ann")
    await expect(badge, ["Ann"])
    logIn("Bob")
    await expect(badge, [])
    root.reset()
    await expect(badge, ["Bob"])
    await badge.end()
  }

  @Test("An optional parameter, and a lookup in a closure, that comes later")
  func optional() async {
    root.register(lifetime: .unique, isolation: nil, using: Greeting.init(session:))
    register { "\($0.link(Session.self)?.user ?? "-")" }
    let greeting = texts(of: Greeting.self, \.text)
    let label = labels()
    await expect(greeting, ["nobody"])
    await expect(label, ["-"])
    logIn("Ann")
    await expect(greeting, ["Ann"])
    await expect(label, ["Ann"])
    root.unregister(Session.self)
    await expect(greeting, ["nobody"])
    await expect(label, ["-"])
  }

  @Test("All of a type, and a name, in a factory")
  func allAndNames() async {
    register("all") { $0.linkAll((any Extra).self).compactMap { ($0 as? any Loose)?.label }.joined(separator: " ") }
    register("name") { ($0.link((any Extra).self, named: "b") as? any Loose)?.label ?? "-" }
    let (all, name) = (labels(named: "all"), labels(named: "name"))
    await expect(all, [""])
    await expect(name, ["-"])
    let (a, b) = (Plain("a"), Plain("b"))
    root.bind(a, as: (any Extra).self, named: "a")
    await expect(all, ["a"])
    await expect(name, [])
    root.bind(b, as: (any Extra).self, named: "b")
    await expect(all, ["a b"])
    await expect(name, ["b"])
    root.unbind((any Extra).self, named: "a")
    await expect(all, ["b"])
    await expect(name, [])
  }

  @Test("A follower inside a scope that closes, and a factory that has captured a scope that closes")
  func scopes() async throws {
    let (inside, captured) = (try root.makeScope(tag: "inside"), try root.makeScope(tag: "captured"))
    register("asker") { $0.link(Session.self)?.user ?? "-" }
    register("captured") { [weak captured] _ in captured?.link(Session.self)?.user ?? "-" }
    logIn("root")
    let (own, other) = (labels(from: inside, named: "asker"), labels(named: "captured"))
    await expect(own, ["root"], inside)
    await expect(other, ["root"], inside)
    logIn("inside", in: inside)
    logIn("captured", in: captured)
    await expect(own, ["inside"], inside)
    await expect(other, ["captured"], inside)
    try await captured.close()
    // What the scope had is not looked up further up.
    await expect(other, ["-"], inside)
    try await inside.close()
    await expect(own, [])
    logIn("later")
    await expect(own, [])
    await own.end()
  }

  @Test("A move of the follower's context, and of one that a factory has captured")
  func moves() async throws {
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let panel = try left.makeChild(tag: "panel")
    register { $0.link(Session.self)?.user ?? "-" }
    register("captured") { [weak panel] _ in panel?.link(Session.self)?.user ?? "-" }
    logIn("left", in: left)
    logIn("right", in: right)
    let (own, other) = (labels(from: panel), labels(named: "captured"))
    await expect(own, ["left"], panel)
    await expect(other, ["left"], panel)
    try right.addChild(panel)
    await expect(own, ["right"], panel)
    await expect(other, ["right"], panel)
    try left.addChild(panel)
    try right.addChild(panel)
    await expect(own, [], panel)
    await expect(other, [], panel)
    panel.removeFromParent()
    // In the branch that was removed, there is no provider.
    await expect(own, [nil], panel)
    await expect(other, ["-"], panel)
  }

  @Test("A context that is moved in a look, and one whose search changes")
  func movesInLook() async throws {
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let panel = try left.makeChild(tag: "panel")
    register("moved") { [weak panel, weak right] _ in
      let user = panel?.link(Session.self)?.user ?? "-"
      if let panel { try right?.addChild(panel) }
      return user
    }
    register("searched") { [weak panel] _ in (panel?.link((any Service).self) as? any Loose)?.label ?? "-" }
    register("seen") { [weak panel] _ in panel?.link(Session.self)?.user ?? "-" }
    let seen = labels(named: "seen")
    await expect(seen, ["-"])
    let (moved, searched) = (labels(named: "moved"), labels(named: "searched"))
    await expect(moved, ["-"])
    await expect(searched, ["-"])
    logIn("right", in: right)
    await expect(moved, ["right"])
    await expect(seen, ["right"])
    let below = try panel.makeChild(tag: "below")
    let plain = Plain("below")
    below.bind(plain, as: (any Service).self)
    await expect(searched, ["below"])
    panel.search = .ancestors
    await expect(searched, ["-"])
    panel.search = .lineage
    await expect(searched, ["below"])
    withExtendedLifetime((plain, seen, moved, searched)) {}
  }

  @Test("A move into another scope: its own instance is found, and what is made of that")
  func otherScope() async throws {
    let scopes = [try root.makeScope(tag: "a"), try root.makeScope(tag: "b")]
    let panel = try root.makeChild(tag: "panel")
    for scope in scopes { logIn(scope.tag, in: scope) }
    root.register(lifetime: .scope, isolation: nil, using: Feed.init(session:))
    root.register(lifetime: .unique, isolation: nil, using: Badge.init(feed:))
    let (feed, badge) = (texts(of: Feed.self, from: panel, \.user), texts(of: Badge.self, from: panel, \.user))
    await expect(feed, [nil], panel)
    await expect(badge, [nil], panel)
    for scope in scopes {
      try scope.addChild(panel)
      await expect(feed, [scope.tag], panel)
      await expect(badge, [scope.tag], panel)
    }
    let inner = try scopes[1].makeChild(tag: "inner")
    try inner.addChild(panel)
    await expect(feed, [], panel)
    await expect(badge, [], panel)
    logIn("again", in: scopes[1])
    scopes[1].reset()
    await expect(feed, ["again"], panel)
    await expect(badge, ["again"], panel)
  }

  @Test("A factory that throws until something is there, and that belongs to an actor; its error is reported once")
  func failing() async {
    let stage = Stage()
    let ((), reports) = await MisuseLog.during {
      stage.register(in: root)
      let label = texts(of: Made.self, named: "of actor", \.label)
      await expect(label, [nil])
      root.provide(Session(user: "wrong"))
      await expect(label, [])
      logIn("Ann")
      await expect(label, ["Ann"])
      await label.end()
    }
    #expect(reports.map(\.kind) == [.notMade], "\(reports)")
  }

  @Test("In wrappers, completions and rules of what is made")
  func wrappers() async {
    root.register(Panel.self, lifetime: .unique) { Panel() }
      .onCreate { context, panel in
        panel.texts.append(context.link(Session.self)?.user ?? "-")
      }
    let panel = FollowerOf<[String]>()
    panel.follow(root.updates(of: Panel.self)) { $0?.texts }
    await expect(panel, [["-", "-"]])
    logIn("Ann")
    await expect(panel, [["Ann", "Ann"]])
    await panel.end()
  }

  @Test("Nobody is told of an answer that is the same: changes that are taken back, and the same object again")
  func same() async throws {
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Service).self)
    root.register(Made.self, lifetime: .unique, isolation: nil) { context in
      Made((context.link((any Service).self) as? any Loose)?.label ?? "-")
    }
    let label = labels()
    await expect(label, ["first"])
    root.bind(second, as: (any Service).self)
    root.bind(first, as: (any Service).self)
    await expect(label, [])
    root.unbind((any Service).self)
    root.bind(first, as: (any Service).self)
    await expect(label, [])
    // Something else in front of the provider, and away again.
    let made = Made("bound")
    root.bind(made, as: Made.self)
    root.unbind(Made.self)
    try root.makeChild(tag: "child").bind(second, as: (any Service).self)
    await expect(label, [])
    for one in (1...50).map({ Plain("\($0)") }) { root.bind(one, as: (any Service).self) }
    await expect(label, ["-"])
    withExtendedLifetime((first, second)) {}
  }

  @Test("A weak instance that has died is told once to who had found it", arguments: [true, false])
  func weak(_ isDerived: Bool) async throws {
    root.register(Member.self, lifetime: .weak, isolation: nil) { [makings] in
      makings.add()
      return Member("\(makings.count)")
    }
    register { $0.link(Member.self)?.label ?? "-" }
    var held: Member? = root.link(Member.self)
    let label = isDerived ? labels() : texts(of: Member.self, \.label)
    let other = isDerived ? labels() : texts(of: Member.self, \.label)
    await expect(label, ["1"])
    await expect(other, ["1"])
    withExtendedLifetime(held) {}
    held = nil
    #expect(await settle([root]))
    let (seen, count) = (label.take() + other.take(), makings.count)
    #expect(seen.count == 2 && !seen.contains("1") && !seen.contains(nil))
    root.bind(Plain(), as: (any Service).self)
    #expect(await settle([root]) && makings.count == count)
  }

  @Test("A weak instance that has died is told to who had let go of another, and to nobody if a follower had it made")
  func weakAfterAnother() async throws {
    root.register(Member.self, lifetime: .weak, isolation: nil) { [makings] in
      makings.add()
      return Member("\(makings.count)")
    }
    let consumers = [texts(of: Member.self, \.label), texts(of: Member.self, \.label)]
    #expect(await settle([root]))
    for _ in 1...3 {
      _ = consumers.flatMap { $0.take() }
      let count = makings.count
      var held: Member? = root.link(Member.self)
      #expect(await settle([root]) && makings.count == count + 1)
      for consumer in consumers { #expect(consumer.take() == ["\(count + 1)"]) }
      withExtendedLifetime(held) {}
      held = nil
      #expect(await settle([root]) && makings.count > count + 1)
      for consumer in consumers { #expect(consumer.take().last ?? nil != nil) }
    }
    for consumer in consumers { await consumer.end() }
  }

  @Test("A weak instance that another's look made is missed if the one before was")
  func weakMadeInAnothersLook() async {
    root.register(Member.self, lifetime: .weak, isolation: nil) { [calls] in
      calls.add()
      return Member("\(calls.count)")
    }
    let held = Locked<Member?>(root.link(Member.self))
    register("resets") { context in
      guard context.link((any Extra).self) != nil else { return "" }
      context.reset()
      let made = context.link(Member.self)
      let before = held.withLock { held in
        defer { held = made }
        return held
      }
      return before?.label ?? ""
    }
    let (member, resets) = (texts(of: Member.self, \.label), labels(named: "resets"))
    await expect(member, ["1"])
    await expect(resets, [""])
    let plain = Plain()
    root.bind(plain, as: (any Extra).self)
    await expect(member, ["2"])
    await expect(resets, ["1"])
    _ = held.withLock { $0.take() }
    await expect(member, ["3"])
    await resets.end()
    await member.end()
  }

  @Test("A weak instance that users have made, and that a look has shown under another type, is missed there")
  func weakShownInLook() async {
    root.register(Member.self, lifetime: .weak, isolation: nil) { [makings] in
      makings.add()
      return Member("\(makings.count)")
    }.implements((any Extra).self)
    let (extra, other) = (FollowerOf<String?>(), FollowerOf<String?>())
    extra.follow(root.updates(of: (any Extra).self)) { .some(($0 as? Member)?.label) }
    await expect(extra, ["1"])
    var held: Member? = root.link(Member.self)
    other.follow(root.updates(of: (any Extra).self)) { .some(($0 as? Member)?.label) }
    await expect(other, ["2"])
    await expect(extra, ["2"])
    await other.end()
    withExtendedLifetime(held) {}
    held = nil
    await expect(extra, ["3"])
    await extra.end()
  }

  @Test("The death of a weak instance that is no UDIObject is told when its provider is next asked")
  func weakWithoutAttachment() async {
    register(nil, .weak) { [makings] _ in "\(makings.count)" }
    var held: Made? = root.link(Made.self)
    let label = labels()
    await expect(label, ["0"])
    withExtendedLifetime(held) {}
    held = nil
    await expect(label, [])
    held = root.link(Made.self)
    await expect(label, ["1"])
    withExtendedLifetime(held) {}
  }

  @Test("Who has waited for a making that failed on another thread tries itself, and so knows what is needed")
  func sharedFailure() async {
    let (begins, ends) = (Latch(), DispatchSemaphore(value: 0))
    registerWaiting(begins, ends)
    let root = root
    async let other: Void = onOwnThread { #expect(throws: UDILinkError.self) { try root.require(Made.self) } }
    await begins.wait()
    let label = Schedule.$hook.withValue({ if $0 == .waits { ends.signal() } }) { labels() }
    await expect(label, [nil])
    await other
    #expect(calls.count == 2)
    logIn("Ann")
    await expect(label, ["Ann"])
  }

  /// Registers something that belongs to no actor, and whose first making waits.
  private nonisolated func registerWaiting(_ begins: Latch, _ ends: DispatchSemaphore) {
    root.register(Made.self, lifetime: .context) { [calls] context in
      calls.add()
      if calls.count == 1 {
        begins.arrive()
        ends.wait()
      }
      return Made(try context.require(Session.self).user)
    }
  }

  @Test("What another thread changes during a look, and changes back, is not lost")
  func changesBackDuringLook() async {
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Service).self)
    register { [makings] context in
      let isFirst = makings.count == 0
      if isFirst { onThreads([{ context.bind(second, as: (any Service).self) }]) }
      defer { if isFirst { onThreads([{ context.bind(first, as: (any Service).self) }]) } }
      return (context.link((any Service).self) as? any Loose)?.label ?? "-"
    }
    let label = labels()
    await expect(label, ["second", "first"])
    withExtendedLifetime((first, second, label)) {}
  }

  @Test("What another thread provides during a look, above a context that has moved before, is not lost")
  func providedDuringLookAfterMove() async throws {
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let panel = try left.makeChild(tag: "panel")
    register { [weak panel, weak right] context in
      let other = context.link((any Service).self)
      let user = panel?.link(Session.self)?.user ?? "-"
      if other != nil, user == "-" { onThreads([{ [right] in _ = right?.provide(Session(user: "right")) }]) }
      return user
    }
    let label = labels()
    await expect(label, ["-"], panel)
    let plain = Plain()
    root.bind(plain, as: (any Service).self)
    try right.addChild(panel)
    await expect(label, ["-", "right"], panel)
  }

  @Test("What is replaced while something nearer hides it is told when that goes, wherever the new one is in memory")
  func replacedBehindAnother() async throws {
    let child = try root.makeChild(tag: "child")
    register(nil, .context) { [makings] _ in "\(makings.count)" }
    let label = labels(from: child)
    await expect(label, ["0"], child)
    let nearer = Made("nearer")
    child.bind(nearer, as: Made.self)
    root.reset()
    // The new instance may well be where the old one was.
    _ = root.link(Made.self)
    child.unbind(Made.self)
    await expect(label, ["1"], child)
    withExtendedLifetime(nearer) {}
  }

  /// Registers a weak instance that belongs to no actor.
  private nonisolated func registerMember() {
    root.register(Member.self, lifetime: .weak, isolation: nil) { [calls] in
      calls.add()
      return Member("\(calls.count)")
    }
  }

  @Test("A change during a look at what is kept is told")
  func changesDuringLookAtKept() async {
    let root = root
    let bound = Plain("bound")
    let service = FollowerOf<String?>()
    service.follow(root.updates(of: (any Service).self)) { .some(($0 as? any Loose)?.label) }
    await expect(service, [nil])
    // A look registers it, so the other consumer looks at what is kept, and asks only this provider, which is new.
    register { [calls] context in
      context.register((any Service).self, lifetime: .unique, isolation: nil) { [calls] in
        calls.add()
        if calls.count == 1 { onThreads([{ context.bind(bound, as: (any Service).self) }]) }
        return Plain("made")
      }
      return ""
    }
    let label = labels()
    await expect(service, ["made", "bound"])
    for consumer in [service, label] { await consumer.end() }
  }

  @Test("What another thread has made during a look, and holds, is told")
  func madeDuringLook() async {
    registerMember()
    let held = Locked<Member?>(nil)
    register { [makings] context in
      let label = context.link(Member.self)?.label ?? "-"
      if makings.count == 0 { onThreads([{ held.withLock { $0 = context.link(Member.self) } }]) }
      return label
    }
    let label = labels()
    await expect(label, ["1", "2"])
    _ = held.withLock { $0.take() }
    await expect(label, ["3"])
    await label.end()
  }

  @Test("The death of what a look has found is told, although the look's thread has released it last")
  func diesDuringLook() async {
    registerMember()
    let held = Locked<Member?>(root.link(Member.self))
    register { [makings] context in
      let member = context.link(Member.self)
      if makings.count == 0 { onThreads([{ _ = held.withLock { $0.take() } }]) }
      return member?.label ?? "-"
    }
    let label = labels()
    await expect(label, ["1", "2"])
    await label.end()
  }

  @Test("The death of a bound object that another consumer's look notices is told")
  func deathNoticedByAnother() async {
    register("first") { ($0.link((any Service).self) as? any Loose)?.label ?? "-" }
    register("second") { ($0.link((any Service).self) as? any Loose)?.label ?? "-" }
    var plain: Plain? = Plain("plain")
    if let plain { root.bind(plain, as: (any Service).self) }
    let first = labels(named: "first")
    await expect(first, ["plain"])
    plain = nil
    let second = labels(named: "second")
    await expect(second, ["-"])
    await expect(first, ["-"])
  }

  @Test("An object's lookup in a look does not wait for the tree while it holds its own lock")
  func lockOrder() async {
    let member = Member("member").attached(to: root)
    register { [makings] context in
      // Another thread holds the tree lock, and takes the object's lock again and again.
      let isLocked = DispatchSemaphore(value: 0)
      if makings.count > 0 {
        onThread {
          Tree.change { _ in
            isLocked.signal()
            for _ in 0..<10_000 { member._attachedContext.lock.withLock {} }
          }
        }
        isLocked.wait()
      }
      return (member.link((any Service).self) as? any Loose)?.label ?? "-"
    }
    let label = labels()
    for number in 1...20 {
      let plain = Plain("\(number)")
      root.bind(plain, as: (any Service).self)
      #expect(await settle([root]) && label.take().last == plain.label)
    }
  }

  // MARK: - Nobody keeps busy

  @Test("A factory that makes a child context and looks there", arguments: [UDILifetime.unique, .graph, .weak])
  func childContext(_ lifetime: UDILifetime) async throws {
    register(nil, lifetime) { context in
      let child = try context.makeChild(tag: "child")
      defer { child.removeFromParent() }
      return child.link(Session.self)?.user ?? "-"
    }
    let consumers = [labels(), labels()]
    for consumer in consumers { await expect(consumer, ["-"]) }
    #expect(makings.count <= 4)
    logIn("Ann")
    for consumer in consumers { await expect(consumer, ["Ann"]) }
  }

  @Test("A factory that looks up something else each time, or binds or registers what it looks up")
  func somethingElseEachTime() async {
    for lifetime in [UDILifetime.unique, .graph, .weak, .context] {
      register("other", lifetime) { [makings] context in
        context.link(Made.self, named: UDIName("n\(makings.count)"))?.label ?? "-"
      }
      root.register(Made.self, named: "binds", lifetime: lifetime, isolation: nil) { [makings] context in
        makings.add()
        _ = context.link((any Other).self)
        let new = Plain("new")
        context.bind(new, as: (any Other).self)
        return Made("binds", parts: [new])
      }
      register("registers", lifetime) { context in
        let found = context.link((any Service).self)
        context.register((any Service).self, lifetime: .unique, replaces: true, isolation: nil) { Plain() }
        return found == nil ? "none" : "one"
      }
      let consumers = (["other", "binds", "registers"] as [UDIName]).flatMap { [labels(named: $0), labels(named: $0)] }
      #expect(await settle([root]), "\(lifetime)")
      let before = makings.count
      let made = Made()
      root.bind(made, as: Made.self, named: UDIName("n\(before)"))
      #expect(await settle([root]) && makings.count - before < 12, "\(lifetime)")
      for consumer in consumers { await consumer.end() }
      for name in ["other", "binds", "registers"] as [UDIName] { root.unregister(Made.self, named: name) }
    }
  }

  @Test("Consumers whose factories reset, register or bind what the others look up", arguments: [2, 3])
  func resetsOfOthers(_ count: Int) async throws {
    let contexts = try (0..<count).map { try root.makeChild(tag: "\($0)") }
    for (index, context) in contexts.enumerated() {
      let next = contexts[(index + 1) % count]
      let part = Locked<Plain?>(nil)
      context.register((any Service).self, isolation: nil) { [weak context] in
        let plain = Plain("part")
        part.withLock { $0 = plain }
        context?.bind(plain, as: (any Other).self)
        return Plain()
      }
      register(nil, .unique, in: context) { [weak next] context in
        _ = context.link((any Other).self)
        _ = context.link((any Service).self)
        next?.reset()
        _ = next?.link((any Service).self)
        return "made"
      }
    }
    let consumers = contexts.map { labels(from: $0) }
    #expect(await settle(contexts), "consumers keep themselves busy")
    #expect(makings.count < 10 * count)
    contexts[0].reset()
    #expect(await settle(contexts), "consumers keep themselves busy")
    #expect(makings.count < 20 * count)
    for consumer in consumers { await consumer.end() }
  }

  private enum Offer: CaseIterable { case binding, registration, value }

  @Test("A look that offers what it has looked up keeps nobody busy when that goes", arguments: Offer.allCases)
  private func offersWhatItNeeds(_ offer: Offer) async {
    root.register(Farewell.self, lifetime: .unique, isolation: nil) { [makings] (context: UDIContext) -> Farewell in
      makings.add()
      _ = context.link((any Extra).self)
      let member = Member()
      switch offer {
      case .binding: context.bind(member, as: (any Extra).self)
      case .registration: context.register((any Extra).self, isolation: nil) { member }
      case .value: context.provide(member as any Extra)
      }
      return Farewell { [weak context] in
        // A binding goes with the member, the others do not.
        withExtendedLifetime(member) { _ = context?.unregister((any Extra).self) }
      }
    }
    let consumers = (1...2).map { _ in FollowerOf<String?>() }
    for consumer in consumers { consumer.follow(root.updates(of: Farewell.self)) { _ in .some(nil) } }
    #expect(await settle([root]))
    #expect(makings.count <= 4)
    let count = makings.count
    root.bind(Plain(), as: (any Service).self)
    #expect(await settle([root]) && makings.count == count)
    for consumer in consumers { await consumer.end() }
  }

  @Test("What users have registered is theirs, although a look has reset it")
  func resetInLook() async throws {
    let child = try root.makeChild(tag: "child")
    root.register(String.self, isolation: nil) { "far" }
    child.register(String.self, isolation: nil) { "near" }
    let consumer = FollowerOf<String?>()
    consumer.follow(child.updates(of: String.self)) { .some($0) }
    await expect(consumer, ["near"])
    register(in: child) { context in
      context.reset()
      return ""
    }
    let resets = labels(from: child)
    await expect(resets, [""])
    child.unregister(String.self)
    await expect(consumer, ["far"])
    for consumer in [consumer, resets] { await consumer.end() }
  }

  @Test("A weak instance that is followed under another type, and let go, keeps nobody busy")
  func weakUnderAnotherType() async {
    root.register(Member.self, lifetime: .weak, isolation: nil) { [makings] _ in
      makings.add()
      return Member("\(makings.count)")
    }.implements((any Extra).self)
    let consumer = FollowerOf<String?>()
    consumer.follow(root.updates(of: (any Extra).self)) { .some(($0 as? Member)?.label) }
    await expect(consumer, ["1"])
    #expect(await settle([root]) && makings.count == 1)
    let plain = Plain()
    root.bind(plain, as: (any Extra).self)
    root.unbind((any Extra).self)
    await expect(consumer, [])
    #expect(makings.count == 1)
    await consumer.end()
  }

  @Test("Consumers that let go of a weak instance after a while do not keep each other busy")
  func weakLetGoLater() async {
    let root = root
    root.register(Member.self, lifetime: .weak, isolation: nil) { [makings] in
      makings.add()
      return Member("\(makings.count)")
    }
    let tasks = (1...2).map { _ in
      Task {
        for await member in root.updates(of: Member.self) {
          for _ in 0..<10 { await Task.yield() }
          withExtendedLifetime(member) {}
        }
      }
    }
    #expect(await settle([root]))
    let count = makings.count
    #expect(await settle([root]) && makings.count == count)
    for task in tasks {
      task.cancel()
      await task.value
    }
  }

  @Test("A weak parameter that nobody holds keeps nobody busy", arguments: [true, false])
  func weakParameter(isMissing: Bool) async {
    root.register(Member.self, lifetime: .weak, isolation: nil) { [makings] in
      makings.add()
      return Member("\(makings.count)")
    }
    let make = { @Sendable (member: Member, session: Session) in Made(member.label) }
    root.register(lifetime: .unique, isolation: nil, using: make)
    if !isMissing { root.provide(Session(user: "Ann")) }
    let label = labels()
    await expect(label, [isMissing ? nil : "1"])
    #expect(makings.count == 1)
    root.provide(Session(user: "Bob"), replaces: true)
    await expect(label, ["2"])
    #expect(makings.count == 2)
    await label.end()
  }

  @Test(
    "If one observer reads between a change and its notice, both are told, also when the first answer comes back",
    arguments: [true, false])
  func readAfterChange(comesBack: Bool) async {
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Loose).self)
    let screen = LooseScreen().attached(to: root)
    let told = Tally()
    func read() -> String? {
      withObservationTracking {
        (screen.loose as? Plain)?.label
      } onChange: {
        told.add()
      }
    }
    #expect(read() == "first")
    root.bind(second, as: (any Loose).self)
    #expect(read() == "second")
    if comesBack { root.bind(first, as: (any Loose).self) }
    await eventually { told.count == 2 }
    #expect(read() == (comesBack ? "first" : "second"))
  }

  @Test(
    "A change during the second read of a property, and one that is taken back, is told to all who have read it",
    arguments: [true, false])
  func changesDuringSecondRead(isTakenBack: Bool) async {
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Service).self)
    root.register((any Loose).self, lifetime: .unique, isolation: nil) { [makings] context in
      makings.add()
      let isSecond = makings.count == 2
      if isSecond { onThreads([{ context.bind(second, as: (any Service).self) }]) }
      defer { if isSecond, isTakenBack { onThreads([{ context.bind(first, as: (any Service).self) }]) } }
      return Plain((context.link((any Service).self) as? any Loose)?.label ?? "-")
    }
    let screen = LooseScreen().attached(to: root)
    let told = Tally()
    for label in ["first", "second"] {
      withObservationTracking {
        #expect(screen.loose?.label == label)
      } onChange: {
        told.add()
      }
    }
    await eventually { told.count == 2 }
    withExtendedLifetime((first, second)) {}
  }

  @Test("A weak instance that is read twice, and that observers hold for a while, keeps no observer busy")
  func weakReadTwice() async {
    root.register((any Loose).self, lifetime: .weak, isolation: nil) { [makings] in
      makings.add()
      return Member("\(makings.count)")
    }
    let screen = LooseScreen().attached(to: root)
    let twice = Observer { [screen.loose?.label, screen.loose?.label].count }
    #expect(await settle([root]) && twice.told == 0)
    var held: [any Loose] = []
    let holding = [
      Observer { held += [screen.loose].compactMap(\.self) }, Observer { held += [screen.loose].compactMap(\.self) },
    ]
    #expect(held.count == 2)
    held = []
    #expect(await settle([root]) && twice.told == 0 && holding.allSatisfy { $0.told == 0 })
  }

  @Test("What a binding had beside its object is released under no lock, when its followers have ended")
  func metadataOfFollowed() async {
    let root = root
    let released = Tally()
    var screen: LooseScreen? = LooseScreen().attached(to: root)
    for round in 1...3 {
      let plain = Plain()
      let witness = Farewell {
        root.bind(plain, as: (any Other).self)
        released.add()
      }
      root.bind(plain, as: (any Loose).self, metadata: consume witness)
      let told = Tally()
      withObservationTracking {
        _ = screen?.loose
      } onChange: {
        told.add()
      }
      root.unbind((any Loose).self)
      await eventually { told.count == 1 && released.count == round }
    }
    screen = nil
  }

  @Test("A consumer that is cancelled in a look reports nothing")
  func cancelled() async {
    let root = root
    let consumer = Locked<Task<Void, Never>?>(nil)
    let ((), reports) = await MisuseLog.during {
      register { [makings] _ in
        makings.add()
        consumer.withLock { $0 }?.cancel()
        try Task.checkCancellation()
        return "-"
      }
      let task = Task { for await _ in root.updates(of: Made.self) {} }
      consumer.withLock { $0 = task }
      await task.value
      _ = await settle([root])
    }
    #expect(makings.count == 1 && reports.isEmpty, "\(reports)")
  }

  @Test("What something that is made once binds, in a look, is told")
  func madeOnce() async {
    root.register((any Service).self, isolation: nil) { Member("once") { $0.bind($0, as: (any Other).self) } }
    register("first") { $0.link((any Other).self).map { _ in "there" } ?? "missing" }
    register("second") { context in
      let before = context.link((any Other).self) != nil
      _ = context.link((any Service).self)
      return before ? "there" : "missing"
    }
    let (first, second) = (labels(named: "first"), labels(named: "second"))
    #expect(await settle([root]))
    #expect(first.seen.last == "there" && second.seen.last == "there")
  }

  // MARK: - The other verbs

  @Test("Who waits gets what can be made later, and whose operation needs it runs as long as it is there")
  func waiting() async throws {
    root.register(lifetime: .unique, isolation: nil, using: Feed.init(session:))
    root.register(lifetime: .unique, isolation: nil, using: Badge.init(feed:))
    let journal = Journal()
    let waiter = Task { try await root.linkWhenAvailable(Badge.self).user }
    let runner = Task {
      try await root.whileAvailable(Badge.self) { badge in
        journal.add(badge.user)
        try? await untilCancelled()
        journal.add("no \(badge.user)")
        throw CancellationError()
      }
    }
    #expect(await settle([root]))
    logIn("Ann")
    #expect(try await waiter.value == "Ann")
    #expect(await settle([root]))
    logIn("Bob")
    #expect(await settle([root]))
    root.unregister(Session.self)
    await eventually { journal.all.last == "no Bob" }
    runner.cancel()
    _ = await runner.result
    #expect(journal.all == ["Ann", "no Ann", "Bob", "no Bob"])
  }

  @Test("Who waits in vain is told what is missing further down")
  func waitingInVain() async throws {
    root.register(lifetime: .unique, isolation: nil, using: Feed.init(session:))
    root.register(lifetime: .unique, isolation: nil, using: Badge.init(feed:))
    let error = await #expect(throws: UDILinkError.self) {
      _ = try await root.linkWhenAvailable(Badge.self, within: .zero)
    }
    let message = try #require(error).message
    #expect(message.contains("Session") && !message.contains("linkWhenAvailable"), "\(message)")
    let closed = try root.makeChild(tag: "closed")
    let task = Task { try await closed.linkWhenAvailable(Badge.self) }
    #expect(await settle([closed]))
    try await closed.close()
    await #expect { _ = try await task.value } throws: { "\($0)".contains("closed") }
  }

  @Test("A property that is followed shows what is derived, also in a context that has been closed")
  func followed() async throws {
    let (_, reports) = try await MisuseLog.during {
      root.register(lifetime: .unique, isolation: nil, using: Feed.init(session:))
      root.register(lifetime: .unique, isolation: nil, using: Badge.init(feed:))
      let child = try root.makeChild(tag: "child")
      let model = Model().attached(to: child)
      let observer = Observer { model.title }
      @MainActor func expect(_ reads: [String], at line: SourceLocation = #_sourceLocation) async {
        #expect(await settle([root, child]), sourceLocation: line)
        #expect(observer.take() == reads, sourceLocation: line)
      }
      await expect(["Log in"])
      #expect(model.badge == nil, "a read that nobody observes")
      logIn("Ann")
      await expect(["Ann"])
      root.unregister(Session.self)
      await expect(["Log in"])
      try await child.close()
      await expect([])
      logIn("Bob")
      await expect(["Bob"])
      #expect(model.called == ["-", "Ann", "-", "Bob"])
    }
    #expect(reports.isEmpty, "\(reports)")
  }

  @Test("Many log-ins leave nothing")
  func manyLogIns() async {
    register("feed") { $0.link((any Service).self).map { _ in "Ann" } ?? "-" }
    for (name, part) in [("badge", "feed"), ("title", "badge")] as [(UDIName, UDIName)] {
      register(name) { $0.link(Made.self, named: part)?.label ?? "-" }
    }
    let plain = Plain()
    var feed = root.updates(of: Made.self, named: "feed").makeAsyncIterator()
    var title = root.updates(of: Made.self, named: "title").makeAsyncIterator()
    var counts: Set<Int> = []
    for index in 0..<(isUnderThreadSanitizer ? 500 : 2_000) {
      for label in ["-", "Ann"] {
        let seen = [await feed.next()??.label, await title.next()??.label]
        if seen != [label, label] { return #expect(seen == [label, label], "log-in \(index)") }
        if label == "-" { root.bind(plain, as: (any Service).self) } else { root.unbind((any Service).self) }
      }
      counts.insert(root.lookoutCount)
    }
    #expect(counts.count == 1 && makings.count <= 8 * 2_000)
  }

  @Test("Consumers that have ended leave nothing in the tree")
  func ended() async {
    root.register(lifetime: .unique, isolation: nil, using: Feed.init(session:))
    register { context in "\(context.linkAll((any Extra).self).count)" }
    for _ in 0..<20 {
      let (feed, all) = (texts(of: Feed.self, \.user), labels())
      await expect(feed, [nil])
      await expect(all, ["0"])
      await feed.end()
      await all.end()
    }
    #expect(root.lookoutCount == 0)
    #expect(Tree.change { _ in unsafe TypeToken.of((any Extra).self).identity.object.followers } == 0)
  }
}

/// Makes what it registers itself.
private actor Stage {
  nonisolated func register(in context: UDIContext) {
    context.register(Made.self, named: "of actor", lifetime: .unique, isolation: self) { context in
      let session = context.link(Session.self)
      if session?.user != "Ann" { throw OutOfOrder() }
      return Made(session?.user ?? "-")
    }
  }
}

@MainActor private final class Panel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  var texts: [String] = []
  @Linked(keeps: .never) private var session: Session?
  func didAttachContext() { texts.append(session?.user ?? "-") }
}

@MainActor @Observable private final class Model: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @ObservationIgnored @Followed var badge: Badge?
  @ObservationIgnored var called: [String] = []
  var title: String { badge?.user ?? "Log in" }
  func didAttachContext() { follow(Badge.self) { model, badge in model.called.append(badge?.user ?? "-") } }
}
