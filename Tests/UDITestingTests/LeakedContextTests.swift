import Testing
import UDI
import UDITesting

/// Objects that are only attached, and contexts.
struct LeakedContextTests {
  private let file = "UDITestingTests/LeakedContextTests.swift"
  private let kept = Locked<any AnyObject & Sendable>([])

  @Test("Of an object that is bound elsewhere, the context that it is attached to is named, and whether that is alive")
  func boundElsewhere() throws {
    let line = #line + 3
    let found = try leaks {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      let guest = Guest().attached(to: checkout)
      guest.multiBind(guest, as: Guest.self, in: [AppContext])
      kept.add(guest)
      AppContext.removeChild(checkout)
    }
    let text = """
      Still alive: the Guest that was registered as UDITestingTests.Guest in "App", at \(file):\(line + 1); \
      and attached to "App / Checkout", at \(file):\(line). So is that context. Who
      """
    #expect(found.count == 1 && found[0].description.hasPrefix(text))
  }

  @Test("Of several contexts, the one that is alive is named")
  func movedToAnotherContext() throws {
    let found = try leaks {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      let guest = Guest().attached(to: checkout)
      AppContext.removeChild(checkout)
      guest.attachedContext = AppContext
      guest.bind(guest, as: Guest.self)
      kept.add(guest)
    }
    #expect(found.count == 1 && found[0].description.contains("So is the context \"App\". "))
  }

  @Test("An object that is only attached is found, with its class, the context, and the line where that is known")
  func onlyAttached() throws {
    let line = #line + 4
    let found = try leaks {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      AppContext.register(lifetime: .unique) { Guest() }
      kept.add(Guest().attached(to: checkout))
      let other = Guest()
      kept.add(other)
      other.attachedContext = checkout
      kept.add(try checkout.require(Guest.self, search: .ancestors))
      AppContext.removeChild(checkout)
    }
    #expect(found.map(\.className) == ["Guest", "Guest", "Guest"])
    #expect(found.map(\.attachments.first?.fullPath) == Array(repeating: ["App", "Checkout"], count: 3))
    #expect(found.map(\.attachments.first?.line) == [line, nil, line - 1])
    #expect(found.allSatisfy { $0.registrations.isEmpty && $0.attachments.count == 1 && $0.fullPath == nil })
    #expect(
      found.map(\.description) == [
        """
        Still alive: the Guest that was attached to "App / Checkout", at \(file):\(line). So is that context. \
        Who holds one of them? Nothing that the audit knows does: perhaps \
        a task, a global or local variable, a C library, or an object that is not in the tree.
        """,
        """
        Still alive: the Guest that was attached to "App / Checkout". So is that context. \
        Who holds one of them? Nothing that the audit knows does: perhaps \
        a task, a global or local variable, a C library, or an object that is not in the tree.
        """,
        """
        Still alive: the Guest that was attached to "App / Checkout", at \(file):\(line - 1). So is that context. \
        Who holds one of them? Nothing that the audit knows does: perhaps \
        a task, a global or local variable, a C library, or an object that is not in the tree.
        """,
      ])
  }

  @Test("An object that was attached to several contexts says all of them, each once")
  func severalContexts() throws {
    let guest = Guest()
    let found = try leaks {
      let (one, other) = (try AppContext.makeChild(tag: "one"), try AppContext.makeChild(tag: "other"))
      for _ in 0..<100 {
        guest.attachedContext = one
        guest.attachedContext = other
      }
      guest.attachedContext = nil
    }
    #expect(found.map { $0.attachments.map(\.fullPath) } == [[["App", "one"], ["App", "other"]]])
    #expect(
      found.first?.description.contains("attached to \"App / one\"; to \"App / other\". Who holds it?") == true)
  }

  @Test("A context that outlives the operation is found, and what is below it goes with it")
  func context() async throws {
    let found = try await leaks {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      try checkout.makeChild(tag: "Payment").makeChild(tag: "Card")
      kept.add(checkout)
      await Task.yield()
    }
    #expect(found.map(\.fullPath) == [["App", "Checkout"]])
    #expect(found.first?.className == "UDIContext" && found.first?.providers == [])
    #expect(
      found.first?.description == """
        The context "App / Checkout" is still alive. Who holds it? Nothing that the audit knows does: perhaps \
        a task, a global or local variable, a C library, or an object that is not in the tree.
        """)
  }

  @Test("A task that goes on is one leak: what it holds, and with that the context and what the context owns")
  func heldByATask() async {
    let (values, end) = AsyncStream.makeStream(of: Void.self)
    var task: Task<Void, Never>?
    let found = await leaks { () async in
      AppContext.provide(TickingClock(), as: (any Clock).self)
      let guest = Guest().attached(to: AppContext)
      task = Task {
        for await _ in values {}
        withExtendedLifetime(guest) {}
      }
    }
    end.finish()
    await task?.value
    #expect(found.map(\.className) == ["Guest"])
    #expect(found.first?.held.map(\.className) == ["TickingClock"], "\(found)")
    #expect(
      found.first?.description.hasSuffix(
        """
        Who holds one of them? Perhaps a task that began during the audit and has not ended; or else a global or local \
        variable, a C library, or an object that is not in the tree. It keeps another object alive: 1 TickingClock.
        """) == true, "\(found)")
  }

  @Test("If a task that goes on holds only its context, that is a leak only because of what the context owns")
  func contextHeldByATask() async {
    for owns in [false, true] {
      let (values, end) = AsyncStream.makeStream(of: Void.self)
      var task: Task<Void, Never>?
      let found = await leaks { () async in
        if owns { AppContext.provide(TickingClock(), as: (any Clock).self) }
        task = Task { for await _ in values {} }
      }
      end.finish()
      await task?.value
      #expect(
        found.map(\.description)
          == (owns
            ? [
              """
              The context "App" is still alive. Who holds it? Perhaps a task that began during the audit and has not \
              ended; or else a global or local variable, a C library, or an object that is not in the tree. It keeps \
              another object alive: 1 TickingClock.
              """
            ] : []))
    }
  }

  @Test("Contexts are seen that the task makes wherever, and that others make in the tree")
  func elsewhere() async throws {
    let foreign = UDIContext(tag: "foreign")
    let found = try await leaks {
      kept.add(UDIContext(tag: "alone"))
      kept.add(try foreign.makeChild(tag: "child"))
      let root = AppContext
      let moved = UDIContext(tag: "moved")
      try root.makeChild(tag: "place").addChild(moved)
      kept.add(moved)
      try await Task.detached { [kept] in
        kept.add(try root.makeChild(tag: "detached"))
        kept.add(UDIContext(tag: "not seen"))
        try foreign.makeChild(tag: "not seen")
      }.value
      try await root.withScope(tag: "done") { _ in }
    }
    #expect(
      found.map(\.fullPath) == [["alone"], ["foreign", "child"], ["App", "place", "moved"], ["App", "detached"]])
  }

  @Test("A context that a leaked object is attached to is reported with the object")
  func attachedTo() throws {
    let found = try leaks {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      kept.add(Guest().attached(to: try checkout.makeChild(tag: "Payment")))
      AppContext.removeChild(checkout)
    }
    #expect(found.map(\.className) == ["Guest"])
  }

  @Test("A context that an ignored object is attached to may live on, with all that it has")
  func ignored() throws {
    let found = try leaks(ignoring: [Guest.self]) {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      kept.add(Guest().attached(to: checkout))
      try checkout.makeChild(tag: "Payment").provide(Basket(), as: (any Cart).self)
      checkout.register((any Clock).self, lifetime: .context) { TickingClock() }
      _ = checkout.link((any Clock).self)
      kept.add(UDIContext(tag: "other"))
    }
    #expect(found.map(\.fullPath) == [["other"]])
    #expect(leaks(ignoring: [UDIContext.self]) { kept.add(UDIContext(tag: "other")) } == [])
  }

  @Test("A context that is bound is found as such")
  func bound() {
    let context = UDIContext(tag: "bound")
    #expect(
      leaks { AppContext.bind(context, as: UDIContext.self) }.first?.description.hasPrefix(
        "Still alive: the UDIContext that was registered as UDI.UDIContext in \"App\"") == true)
  }
}

/// Factories that capture a context.
struct CapturedContextTests {
  private let file = "UDITestingTests/LeakedContextTests.swift"

  @Test("A factory that captures its own context is found, by the line where it is registered")
  func captured() async throws {
    let line = #line + 3
    func openSession() throws {
      let session = try AppContext.makeChild(tag: "Session")
      session.register((any Cart).self, lifetime: .context) { Basket(owner: session.tag.count) }
      AppContext.removeChild(session)
    }
    let text = """
      The context "App / Session" is still alive. It is held: UDIContext "Session" {provider of UDITestingTests.Cart, \
      registered at \(file):\(line)} {captures} → UDIContext "Session". Use the context that the factory is given.
      """
    let found = try synchronously { try leaks(during: openSession) }
    #expect(found.map(\.description) == [text])
    #expect(found.first?.providers.map(\.finding.line) == [line])
    #expect(found.first?.fullPath == ["App", "Session"])
    let later = try await withOwnAppContext {
      try await leaks {
        await Task.yield()
        try openSession()
      }
    }
    #expect(later.map(\.description) == [text])
  }

  @Test("A context that a value holds which it owns itself is told with the value's property")
  func ownedValue() throws {
    let line = #line + 3
    let found = try leaks {
      let session = try AppContext.makeChild(tag: "Session")
      session.provide(Desk(context: session))
      AppContext.removeChild(session)
    }
    #expect(
      found.map(\.description) == [
        """
        The context "App / Session" is still alive. It is held: UDIContext "Session" {provider of \
        UDITestingTests.Desk, registered at \(file):\(line)}.context → UDIContext "Session"
        """
      ])
  }

  @Test("One that uses the context that it is given is none")
  func given() throws {
    let found = try leaks {
      let session = try AppContext.makeChild(tag: "Session")
      session.register((any Cart).self, lifetime: .context) { Basket(owner: $0.tag.count) }
      #expect(session.link((any Cart).self)?.owner == 7)
      AppContext.removeChild(session)
    }
    #expect(found == [])
  }

  @Test("In the test's own context, too, with all that may be the reason")
  func root() async throws {
    func compose(_ context: UDIContext) {
      for index in 0..<6 {
        context.register((any Clock).self, named: UDIName(index)) { StoppedClock() }
      }
      context.register((any Cart).self) { Basket(owner: context.tag.count) }.implements(AnyObject.self)
    }
    let found = synchronously { leaks { compose(AppContext) } }
    #expect(found.map(\.fullPath) == [["App"]])
    #expect(found.first?.providers.count == 7)
    #expect(found.first?.trace?.contains("{provider of UDITestingTests.Cart, registered at \(file):") == true)
    let later = await leaks {
      await Task.yield()
      compose(AppContext)
    }
    #expect(later.map(\.fullPath) == [["App"]])
  }

  @Test("So is one below that captures the context")
  func below() throws {
    let line = #line + 4
    let found = try leaks {
      let session = try AppContext.makeChild(tag: "Session")
      let page = try session.makeChild(tag: "Page")
      page.register((any Cart).self, named: "x") { (_, owner: Int) in Basket(owner: session.tag.count + owner) }
      AppContext.removeChild(session)
    }
    #expect(
      found.map(\.description) == [
        """
        The context "App / Session" is still alive. Its own provider of UDITestingTests.Cart named "x" \
        in "App / Session / Page", at \(file):\(line), may hold it: use the context that the factory is given.
        """
      ])
  }

  @Test("A task that goes on holds its AppContext, which is no leak then")
  func task() async {
    let signal = Signal()
    func begin() {
      AppContext.register((any Clock).self) { StoppedClock() }
      _ = try? AppContext.makeChild(tag: "child")
      Task { await signal.wait() }
    }
    #expect(synchronously { leaks { begin() } } == [])
    let found = await leaks {
      await Task.yield()
      begin()
    }
    #expect(found == [])
    signal.give()
  }
}

/// A value that holds a context.
struct Desk: Sendable { let context: UDIContext }
