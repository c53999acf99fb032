import Dispatch
import Testing

// What attachments note about the owners of their objects.
@testable import UDI

/// What a provider makes takes part in the tree, but does not keep the tree alive.
@Suite struct OwnedObjectTests {
  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context, UDILifetime("own")])
  func madeObjectsAreAttachedToTheContextOfTheirFactory(_ lifetime: UDILifetime) throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let hooks = Journal()
    child.register((any Service).self, lifetime: lifetime) {
      Member { member in
        hooks.add(member.attachedContext?.tag ?? "none")
        member.bind(member, as: (any Loose).self)
      }
    }
    let member = try #require(root.link((any Service).self) as? Member)
    let expected = lifetime == .unique || lifetime == .graph ? "root" : "child"
    #expect(hooks.all == [expected])
    #expect(member.attachedContext?.tag == expected)
    #expect(member.attachedContext?.link((any Loose).self)?.label == "member")
  }

  @Test(.misuses(.contextGone), arguments: [UDILifetime.context, UDILifetime("own")])
  func aContextThatGoesFreesWhatItOwned(_ lifetime: UDILifetime) throws {
    weak var gone: UDIContext?
    let freed = Tally()
    do {
      let context = UDIContext(tag: "owner")
      gone = context
      context.register((any Service).self, lifetime: lifetime) { Farewell { freed.add() } }
      context.register((any Loose).self, lifetime: lifetime) { [freed] in Watched(freed) }
      // Attached by its factory, which must not make a cycle, either.
      context.register((any Other).self, lifetime: lifetime) { [freed] context in Watched(freed).attached(to: context) }
      _ = context.link((any Service).self)
      #expect((context.link((any Loose).self) as? Watched)?.attachedContext === context)
      #expect((context.link((any Other).self) as? Watched)?.attachedContext === context)
      #expect(freed.count == 0)
    }
    #expect(gone == nil)
    #expect(freed.count == 3)
  }

  /// Attached, and still holding what it linked.
  final class Watched: UDIObject, Loose, Other {
    let _attachedContext = UDIAttachment()
    let label = "watched"
    let freed: Tally
    init(_ freed: Tally) { self.freed = freed }
    func didAttachContext() { bind(self, as: Watched.self) }
    deinit {
      // The context is going away, so this is a miss, not a crash.
      _ = linkInLine((any Service).self)
      unbind(Watched.self)
      freed.add()
    }
  }

  /// What no context owns keeps its context alive, as anything that a caller attaches does.
  @Test(arguments: [UDILifetime.unique, .graph, .weak])
  func whatIsNotOwnedHoldsItsContext(_ lifetime: UDILifetime) throws {
    func make() throws -> Member {
      let context = UDIContext(tag: "holder")
      context.register((any Service).self, lifetime: lifetime) { Member() }
      return try #require(context.link((any Service).self) as? Member)
    }
    let member = try make()
    #expect(member.attachedContext?.tag == "holder")
  }

  @Test func whatOutlivesItsContextSaysSo() throws {
    let (member, misuse) = try MisuseLog.during { () -> Member in
      let context = UDIContext(tag: "owner")
      context.register((any Service).self, lifetime: .context) { Member() }
      let member = try #require(context.link((any Service).self) as? Member)
      #expect(member.attachedContext === context)
      return member
    }
    #expect(misuse.isEmpty)
    let line = #line + 2
    let (_, complaints) = MisuseLog.during {
      #expect(member.linkInLine((any Other).self) == nil)
      #expect(member.linkAll((any Other).self).isEmpty)
      member.bind(member, as: (any Other).self)
      #expect(member.find("x") == nil)
    }
    #expect(member.attachedContext == nil)
    #expect(complaints.map(\.kind) == [.contextGone, .contextGone, .contextGone, .contextGone])
    #expect(complaints.map(\.line) == [line, line + 1, line + 2, line + 3])
    #expect(complaints[0].message.hasPrefix("The Member used link for UDITests.Other, but the context that it is"))
    let (error, _) = MisuseLog.during {
      #expect(throws: UDILinkError.self) { try member.require((any Other).self) }
    }
    #expect(error?.cause == .contextGone)
    // It can be attached elsewhere and go on.
    let other = UDIContext(tag: "other")
    member.attachedContext = other
    member.bind(member, as: (any Other).self)
    #expect(other.link((any Other).self) === member)
  }

  @Test func theErrorNamesTheSearchOfTheContextThatIsGone() {
    var context: UDIContext? = UDIContext(tag: "owner", search: .ancestors)
    let member = Member()
    context?.provide(member, as: (any Service).self)
    context = nil
    _ = MisuseLog.during {
      let own = #expect(throws: UDILinkError.self) { try member.require((any Other).self) }
      #expect(own?.cause == .contextGone && own?.explanation.search == .ancestors)
      let named = #expect(throws: UDILinkError.self) { try member.require((any Other).self, search: .local) }
      #expect(named?.explanation.search == .local)
      #expect(member.explain((any Other).self).search == .ancestors)
    }
  }

  @Test func theHookMayLinkWhatIsMade() throws {
    let context = UDIContext(tag: "context")
    context.register((any Beta).self, lifetime: .graph) { Made("shared") }
    let seen = Locked<[ObjectIdentifier]>([])
    context.register((any Service).self) { context in
      let beta = try context.require((any Beta).self)
      seen.withLock { $0.append(ObjectIdentifier(beta)) }
      return Member { member in
        if let beta = member.linkInLine((any Beta).self) { seen.withLock { $0.append(ObjectIdentifier(beta)) } }
      }
    }
    #expect(context.link((any Service).self) != nil)
    let identities = seen.withLock { $0 }
    #expect(identities.count == 2 && identities[0] == identities[1])
  }

  /// If an owned object is attached to its owner again, or to a context above its owner, it keeps neither alive.
  @Test func ownedObjectsHoldNoContextThatLeadsToTheirOwner() throws {
    weak var gone: UDIContext?
    do {
      let root = UDIContext(tag: "root")
      gone = root
      let child = try root.makeChild(tag: "child")
      child.register((any Service).self, lifetime: .context) { context in
        context.parent.map { Member("above").attached(to: $0) }
      }
      child.register((any Other).self, lifetime: .context) { Member("again") }
      let (above, again) = (child.link((any Service).self) as? Member, child.link((any Other).self) as? Member)
      #expect(above?.attachedContext === root)
      again?.attachedContext = child
      #expect(again?.attachedContext === child)
      again?.attachedContext = root
      #expect(again?.attachedContext === root)
    }
    #expect(gone == nil)
  }

  @Test func eachOwnerIsNotedOnce() throws {
    let member = Member()
    let (context, other) = (UDIContext(tag: "context"), UDIContext(tag: "other"))
    context.register((any Service).self, lifetime: .context) { member }
    other.register((any Service).self, lifetime: .context) { member }
    for _ in 0..<10 {
      #expect(context.link((any Service).self) === member && other.link((any Service).self) === member)
      context.provide(member, as: (any Other).self)
      context.reset()
      other.reset()
    }
    #expect(unsafe member._attachedContext.owners.map(\.context) == [context, other])
  }

  /// If a factory attaches an owned object to another context, and the owner later comes to be below that context, the
  /// object does not keep its owner alive.
  @Test(arguments: ["before", "after", "deep", "again"])
  func ownersThatMoveBelowTheContextOfWhatTheyOwn(_ order: String) async throws {
    weak var gone: UDIContext?
    weak var object: Member?
    do {
      let (root, owner) = (UDIContext(tag: "root"), UDIContext(tag: "owner"))
      gone = root
      if order == "before" { try root.addChild(owner) }
      owner.register((any Service).self, lifetime: .context) { [weak root] in
        root.map { Member().attached(to: $0) }
      }
      let member = try #require(owner.link((any Service).self) as? Member)
      object = member
      #expect(member.attachedContext === root)
      switch order {
      case "after": try root.addChild(owner)
      case "deep":
        // Both are far from the place where the branches are joined.
        let (below, above) = (UDIContext(tag: "below"), UDIContext(tag: "above"))
        try below.makeChild(tag: "1").makeChild(tag: "2").addChild(owner)
        try above.addChild(root)
        try root.makeChild(tag: "3").makeChild(tag: "4").addChild(below)
      case "again":
        // Out again and back: the reference stays weak.
        try root.addChild(owner)
        owner.removeFromParent()
        try root.addChild(owner)
      default: break
      }
      #expect(member.attachedContext === root)
    }
    // A thread of another test that moves a context at the same time looks at all objects of this kind
    // (`UDIAttachment.breakCircles`), and holds them until its own change has ended.
    await eventually { gone == nil && object == nil }
  }

  /// If an owned object is attached to an unrelated context, it keeps that context alive, wherever anything is moved.
  @Test func ownedObjectsKeepAContextOfTheirOwn() throws {
    let root = UDIContext(tag: "root")
    let owner = UDIContext(tag: "owner")
    weak var own: UDIContext?
    owner.register((any Service).self, lifetime: .context) { Member().attached(to: UDIContext(tag: "own")) }
    do {
      let member = try #require(owner.link((any Service).self) as? Member)
      own = member.attachedContext
      #expect(own != nil)
      try own?.makeChild(tag: "below").addChild(UDIContext(tag: "deeper"))
    }
    try root.addChild(owner)
    try root.addChild(UDIContext(tag: "other"))
    #expect(own?.tag == "own")
    // When it is attached to another context, it lets go of that one.
    (owner.link((any Service).self) as? Member)?.attachedContext = root
    #expect(own == nil)
    #expect((owner.link((any Service).self) as? Member)?.attachedContext === root)
  }

  /// Such an object may be released while another thread moves a context.
  @Test func ownedObjectsThatGoDuringMoves() throws {
    let (owner, elsewhere, other) = (UDIContext(tag: "owner"), UDIContext(tag: "elsewhere"), UDIContext(tag: "other"))
    owner.register((any Loose).self, lifetime: .context) { Member().attached(to: elsewhere) }
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      for _ in 0..<20_000 {
        if thread == 0 {
          _ = owner.link((any Loose).self)
          owner.reset()
        } else {
          _ = try? elsewhere.addChild(other)
          other.removeFromParent()
        }
      }
    }
    #expect(owner.link((any Loose).self) != nil)
  }

  /// Once such an object is gone, moves no longer check it.
  @Test func ownedObjectsThatHeldAContextGoOrderly() throws {
    let gone = Tally()
    let (owner, elsewhere) = (UDIContext(tag: "owner"), UDIContext(tag: "elsewhere"))
    owner.register((any Loose).self, lifetime: .context) { Watched(gone).attached(to: elsewhere) }
    for round in 1...100 {
      #expect(owner.link((any Loose).self) != nil)
      if round % 2 == 0 { try elsewhere.addChild(owner) }
      owner.reset()
      #expect(gone.count == round)
      try elsewhere.addChild(owner)
      owner.removeFromParent()
    }
  }
}
