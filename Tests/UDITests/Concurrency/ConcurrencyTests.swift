import Testing
import TreeModel
import UDI
import UDIInspector

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct ConcurrencyTests {
  /// A `deinit` that does everything that one can do with a tree.
  final class Meddler: UDIObject, Service, Sendable {
    let _attachedContext = UDIAttachment()
    let helper = Plain("helper")
    let depth: Int
    let done: Tally

    init(depth: Int, done: Tally) {
      self.depth = depth
      self.done = done
    }

    func didAttachContext() {
      bind(self, as: (any Service).self)
      multiBind(self, as: (any Service).self, named: UDIName(depth))
    }

    deinit {
      guard let context = attachedContext else { return }
      bind(helper, as: (any Other).self)
      _ = linkInLine((any Other).self)
      _ = linkAll((any Service).self)
      unbind((any Service).self)
      let child = try? context.makeChild(tag: "of the deinit")
      try? context.root.addChild(UDIContext(tag: "of \(depth)"))
      child?.bind(helper, as: (any Service).self)
      context.root.removeChild(tag: "of \(depth)")
      context.removeChild(tag: "of the deinit")
      if depth > 0 { _ = Meddler(depth: depth - 1, done: done).attached(to: context) }
      done.add()
    }
  }

  /// In a process of its own: an explanation that another test makes may hold an attachment for a moment, and with it
  /// what the object has bound.
  @Test func aDeinitThatBindsLinksUnbindsAndMoves() async {
    await #expect(processExitsWith: .success) {
      let root = UDIContext(tag: "root")
      let done = Tally()
      let context = try root.makeChild(tag: "context")
      do { _ = Meddler(depth: 5, done: done).attached(to: context) }
      try #require(done.count == 6, "each one's deinit makes and drops the next")
      try #require(boundHere(context).isEmpty && root.descendants == [context])
      // Released by a lookup's result, by the owner of a replaced binding, and by a context that goes.
      var held: [Meddler] = [Meddler(depth: 0, done: done).attached(to: context)]
      _ = { (found: (any Service)?) in held.removeAll() }(context.link((any Service).self))
      try #require(done.count == 7)
    }
  }

  /// A context that goes away inside the `deinit` of an object, inside the release of another context.
  @Test func contextsThatGoInsideADeinit() throws {
    final class Owner: Service, UDIObject, Sendable {
      let _attachedContext = UDIAttachment()
      let own = UDIContext(tag: "own")
      let tally: Tally
      init(_ tally: Tally) { self.tally = tally }
      func didAttachContext() { bind(self, as: (any Service).self) }
      deinit { tally.add() }
    }
    let tally = Tally()
    do {
      let root = UDIContext(tag: "root")
      var owners: [Owner] = []
      for index in 0..<100 {
        let owner = Owner(tally)
        try owner.own.makeChild(tag: "below \(index)").makeChild(tag: "further")
        try root.addChild(UDIContext(tag: "\(index)"))
        owner.attachedContext = root.children[index]
        owners.append(owner)
      }
      root.children.forEach { $0.removeFromParent() }
    }
    #expect(tally.count == 100)
  }

  /// Threads move, bind, link and release in one tree. Afterwards the tree is as the last writer left it.
  @Test func aStorm() throws {
    let root = UDIContext(tag: "root")
    let hubs = try (0..<4).map { try root.makeChild(tag: "hub \($0)") }
    let stable = Plain("stable")
    hubs[0].bind(stable, as: (any Other).self)
    let wrong = Tally()
    onThreads(6) { thread in
      var random = SplitMix(seed: UInt64(thread))
      for step in 0..<400 {
        let hub = hubs[Int.random(in: 0..<4, using: &random)]
        switch step % 8 {
        case 0, 1:
          if let own = try? hub.makeChild(tag: "thread \(thread)") {
            let member = Member("\(thread)").attached(to: own)
            member.bind(member, as: (any Service).self)
            if own.link((any Service).self) !== member { wrong.add() }
            try? hubs[Int.random(in: 0..<4, using: &random)].addChild(own)
            _ = own.link((any Other).self, search: .ancestors)
            own.removeFromParent()
          }
        case 2:
          let plain = Plain("\(thread)")
          hub.bind(plain, as: (any Service).self, named: UDIName(thread))
          if hub.link((any Service).self, named: UDIName(thread)) == nil { wrong.add() }
          _ = root.linkAll((any Service).self)
        case 3: _ = root.link((any Service).self, named: UDIName(step % 6))
        case 4: _ = root.find("thread \(thread)")
        case 5: _ = root.snapshot()
        default: if root.link((any Other).self) !== stable { wrong.add() }
        }
      }
    }
    #expect(wrong.count == 0)
    #expect(root.children == hubs && hubs.allSatisfy { $0.children.isEmpty })
    #expect(root.linkAll((any Service).self).isEmpty)
    #expect(root.link((any Other).self) === stable)
  }

  /// While a branch is moved back and forth, a lookup from above both places always finds what is in the branch.
  @Test func aMoveIsOneStep() throws {
    let root = UDIContext(tag: "root")
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let branch = try left.makeChild(tag: "branch")
    let leaf = try branch.makeChild(tag: "leaf")
    let (above, below) = (Plain("above"), Plain("below"))
    root.bind(above, as: (any Other).self)
    leaf.bind(below, as: (any Service).self)
    let (ended, missed) = (Tally(), Tally())
    let look = { @Sendable in
      while ended.count == 0 {
        if root.link((any Service).self) !== below { missed.add() }
        if leaf.link((any Other).self, search: .ancestors) !== above { missed.add() }
        if root.find("leaf") !== leaf { missed.add() }
      }
    }
    onThreads([
      look, look,
      {
        for step in 0..<4000 { try? (step.isMultiple(of: 2) ? right : left).addChild(branch) }
        ended.add()
      },
    ])
    #expect(missed.count == 0)
  }

  /// The same within a scope, which nobody outside ever sees into, even while the scope is moved, too.
  @Test func aMoveInAScopeIsOneStep() throws {
    let root = UDIContext(tag: "root")
    let (first, second) = (try root.makeChild(tag: "first"), try root.makeChild(tag: "second"))
    let scope = try first.makeScope(tag: "scope")
    let (left, right) = (try scope.makeChild(tag: "left"), try scope.makeScope(tag: "right"))
    let branch = try left.makeChild(tag: "branch")
    let (above, inScope, below) = (Plain("above"), Plain("in the scope"), Plain("below"))
    root.bind(above, as: (any Other).self)
    scope.bind(inScope, as: (any Loose).self)
    branch.bind(below, as: (any Service).self)
    let (ended, missed, seen) = (Tally(), Tally(), Tally())
    onThreads([
      {
        while ended.count == 0 {
          if branch.link((any Other).self) !== above { missed.add() }
          if branch.link((any Loose).self)?.label != "in the scope" { missed.add() }
          if branch.link((any Service).self) !== below { missed.add() }
        }
      },
      {
        while ended.count == 0 {
          for context in [root, first, second] {
            if context.link((any Service).self) != nil || !context.linkAll((any Loose).self).isEmpty { seen.add() }
          }
        }
      },
      {
        for step in 0..<4000 {
          try? (step.isMultiple(of: 2) ? right : left).addChild(branch)
          try? (step.isMultiple(of: 3) ? second : first).addChild(scope)
        }
        ended.add()
      },
    ])
    #expect(missed.count == 0 && seen.count == 0)
  }

  /// Objects die on one thread while another thread looks them up: it gets a live object or nothing.
  @Test func lookupsRaceWithDeath() {
    let context = UDIContext(tag: "context")
    let slot = Locked<Member?>(nil)
    let wrong = Tally()
    onThreads(4) { thread in
      for step in 0..<3000 {
        if thread == 0 {
          let old = slot.withLock { held in
            let old = held
            held = Member("\(step)")
            return old
          }
          slot.withLock { $0 }?.attachedContext = context
          slot.withLock { $0 }.map { $0.bind($0, as: (any Service).self) }
          withExtendedLifetime(old) {}
        } else if let found = context.link((any Service).self) as? Member, Int(found.label) == nil {
          wrong.add()
        }
      }
    }
    #expect(wrong.count == 0)
    slot.withLock { $0 = nil }
    #expect(boundHere(context).isEmpty)
  }

  /// Parents go while lookups come up from their children.
  @Test func parentsGoWhileLookupsComeUp() throws {
    let leaf = UDIContext(tag: "leaf")
    let service = Plain()
    let (ended, wrong) = (Tally(), Tally())
    let look = { @Sendable in
      while ended.count == 0 {
        if let found = leaf.link((any Service).self, search: .ancestors), found !== service { wrong.add() }
        _ = leaf.parent?.parent
        _ = leaf.path
        _ = leaf.root
      }
    }
    onThreads([
      look, look,
      {
        for _ in 0..<3000 {
          let root = UDIContext(tag: "root")
          root.bind(service, as: (any Service).self)
          try? root.makeChild(tag: "middle").addChild(leaf)
        }
        ended.add()
      },
    ])
    #expect(wrong.count == 0)
    #expect(leaf.parent == nil)
  }
}

// MARK: - What went wrong once

@Suite struct ConcurrencyRegressionTests {
  /// An object's context is replaced while the object looks up something that turns out to be dead.
  @Test func contextsGoWhileTheirObjectLooksUp() {
    let member = Member()
    let ended = Tally()
    onThreads([
      {
        while ended.count == 0 {
          _ = member.linkInLine((any Service).self)
          _ = member.linkInLine((any Service).self, named: "x")
          _ = member.linkInLine((any Other).self)
          _ = try? member.require((any Other).self, named: "x")
          _ = member.linkAll((any Service).self)
          _ = member.find("none")
        }
      },
      {
        for _ in 0..<5000 {
          let context = UDIContext(tag: "a tag that is too long to be stored in place")
          do {
            let mortal = Plain()
            context.bind(mortal, as: (any Service).self)
            context.multiBind(mortal, as: (any Service).self, named: "x")
          }
          // What is made takes the context along to where no lock is held.
          context.register((any Other).self, lifetime: .unique) { Plain() }
          context.register((any Other).self, named: "x", lifetime: .context) { Plain() }
          member.attachedContext = context
        }
        ended.add()
      },
    ])
    #expect(member.linkInLine((any Service).self) == nil)
  }

  /// Binding in a full context looks for dead entries, whose objects may be about to die. No object may be released
  /// under the lock.
  @Test func objectsDieWhileAContextIsSwept() {
    let context = UDIContext(tag: "context")
    let kept = (0..<40).map { _ in Plain() }
    for (index, plain) in kept.enumerated() { context.bind(plain, as: (any Service).self, named: UDIName(index)) }
    let ended = Tally()
    onThreads([
      { while ended.count == 0 { context.bind(kept[0], as: (any Other).self) } },
      {
        for step in 0..<20_000 {
          let member = Member()
          context.bind(member, as: (any Service).self, named: UDIName(step % 8 + 100))
        }
        ended.add()
      },
    ])
    #expect(context.linkAll((any Service).self).count == 40)
  }

  /// One thread withdraws what an object has bound of other objects, while the object dies on another thread.
  @Test func bindersDieWhileTheirBindingsAreWithdrawn() {
    let context = UDIContext(tag: "context")
    let helper = Plain()
    let ended = Tally()
    onThreads([
      { while ended.count == 0 { context.unbind((any Service).self) } },
      {
        for _ in 0..<20_000 {
          let member = Member().attached(to: context)
          member.bind(helper, as: (any Service).self)
        }
        ended.add()
      },
    ])
    #expect(context.link((any Service).self) == nil)
  }
}

// MARK: - The thread sanitizer still finds races

@Suite struct ThreadSanitizerTests {
  /// The code that keeps the sanitizer from misreading the library's locks must not hide a real race. Here is one, in a
  /// process of its own.
  @Test(.enabled(if: isUnderThreadSanitizer, "needs swift test --sanitize=thread"))
  func aDeliberateRaceIsReported() async {
    let result = await #expect(processExitsWith: .exitCode(66), observing: [\.standardErrorContent]) {
      final class Racy: Service, @unchecked Sendable { var count = 0 }  // Unchecked: the race is the point.
      let context = UDIContext(tag: "context")
      let racy = Racy()
      context.bind(racy, as: Racy.self)
      onThreads(4) { _ in for _ in 0..<10_000 { context.link(Racy.self)?.count += 1 } }
    }
    #expect(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains("data race") == true)
  }
}
