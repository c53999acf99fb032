import Testing
import UDI
import UDIInspector

/// What an observer is told.
struct ObserverTests {
  let root = UDIContext(tag: "App")
  let shop: UDIContext

  init() throws { shop = try root.makeChild(tag: "Shop") }

  /// Collects events.
  final class Log: Sendable {
    private let events = Locked<[UDIEvent]>([])
    var all: [UDIEvent] { events.withLock { $0 } }
    var texts: [String] { all.map(Self.describe) }
    var observer: UDIObserver { UDIObserver { event in self.events.withLock { $0.append(event) } } }

    static func describe(_ event: UDIEvent) -> String {
      switch event {
      case .made(let made):
        "made \(made.typeName)\(made.name.map { " \($0)" } ?? "") in \(made.fullPath) for \(made.askers)"
      case .closed(let closed): "closed \(closed.typeName ?? "context") in \(closed.fullPath) \(closed.failure ?? "")"
      case .missed(let missed): "missed \(missed.typeName) in \(missed.fullPath) \(missed.isRequired)"
      @unknown default: "?"
      }
    }
  }

  @Test("What is made, for whom, and what is missed; never hits", .silent)
  func makingsAndMisses() throws {
    let log = Log()
    root.register((any Beta).self, lifetime: .context) { Made() }
    let line = #line + 1
    root.register((any Alpha).self, named: "x", lifetime: .unique) { Made(parts: [$0.link((any Beta).self)!]) }
    let member = Member().attached(to: shop)
    withObserver(log.observer) {
      _ = shop.link((any Alpha).self, named: "x")
      _ = shop.link((any Beta).self)
      _ = shop.link((any Gamma).self)
      _ = member.linkInLine((any Gamma).self)
      _ = shop.link((any Gamma).self, with: 1)
      _ = try? shop.require((any Gamma).self)
      _ = try? member.require((any Gamma).self)
    }
    #expect(
      log.texts == [
        #"made UDITests.Beta in ["App"] for ["UDITests.Alpha named \"x\""]"#,
        #"made UDITests.Alpha x in ["App", "Shop"] for []"#,
        #"missed UDITests.Gamma in ["App", "Shop"] false"#, #"missed UDITests.Gamma in ["App", "Shop"] false"#,
        #"missed UDITests.Gamma in ["App", "Shop"] false"#, #"missed UDITests.Gamma in ["App", "Shop"] true"#,
        #"missed UDITests.Gamma in ["App", "Shop"] true"#,
      ])
    guard case .made(let made) = log.all[1] else { return }
    #expect(made.fullPath == shop.fullPath && made.name == UDIName("x").description)
    #expect(made.lifetime == "unique" && made.line == line && made.fileID == #fileID && made.duration > .zero)
    // Nobody observes any more.
    _ = shop.link((any Gamma).self)
    #expect(log.all.count == 7)
  }

  @Test("`warmUp` on a closed context looks nothing up, so it misses nothing", .silent)
  func warmUpOfAClosedContext() async throws {
    let log = Log()
    root.register((any Alpha).self, lifetime: .context) { Made() }
    try await root.close()
    await withObserver(log.observer) {
      _ = await #expect(throws: UDIWarmUpError.self) { try await root.warmUp() }
    }
    #expect(log.texts == [])
  }

  @Test("The lookups of an object whose context is gone miss", .silent)
  func lookupsInAContextThatIsGone() throws {
    let log = Log()
    let member = try {
      let context = UDIContext(tag: "gone")
      context.register(Member.self, lifetime: .context) { Member() }
      return try context.require(Member.self)
    }()
    withObserver(log.observer) {
      _ = member.linkInLine((any Alpha).self)
      _ = member.link((any Alpha).self, with: 1)
      _ = try? member.require((any Beta).self, named: "b")
      _ = member.linkAll((any Gamma).self)
      _ = member.updates(of: (any Gamma).self)
    }
    #expect(
      log.texts == [
        "missed UDITests.Alpha in [] false", "missed UDITests.Alpha in [] false", "missed UDITests.Beta in [] true",
      ])
  }

  @Test("A factory that fails makes nothing, and its lookup misses", .silent)
  func failures() throws {
    let log = Log()
    root.register((any Alpha).self) { throw OutOfOrder() }
    root.register((any Beta).self) { nil }
    root.register((any Gamma).self) { Made(parts: [try $0.require((any Beta).self)]) }
    withObserver(log.observer) {
      _ = root.link((any Alpha).self)
      _ = root.link((any Beta).self)
      _ = try? root.require((any Alpha).self)
      _ = try? root.require((any Gamma).self)
    }
    #expect(
      log.texts == [
        #"missed UDITests.Alpha in ["App"] false"#, #"missed UDITests.Beta in ["App"] false"#,
        #"missed UDITests.Alpha in ["App"] true"#, #"missed UDITests.Beta in ["App"] true"#,
        #"missed UDITests.Gamma in ["App"] true"#,
      ])
  }

  @Test("An `obtain` that fails misses, and one that is cancelled does not", .silent)
  func failuresOfObtain() async {
    let log = Log()
    root.register((any Alpha).self) { _ async throws -> any Alpha in throw OutOfOrder() }
    root.register((any Beta).self) { _ async throws -> any Beta in throw CancellationError() }
    await withObserver(log.observer) {
      _ = try? await root.obtain((any Alpha).self)
      _ = try? await root.obtain((any Beta).self)
    }
    #expect(log.texts == [#"missed UDITests.Alpha in ["App"] true"#])
  }

  @Test("Asynchronous factories: makings, and no misses for what `obtain` makes", .silent)
  func asynchronous() async throws {
    let log = Log()
    root.register((any Beta).self, lifetime: .context) { _ async throws -> any Beta in Made() }
    root.register((any Alpha).self, using: { (beta: any Beta) in Made(parts: [beta]) })
    root.register((any Gamma).self) { context async throws -> any Gamma in
      Made(parts: [try await context.obtain((any Alpha).self)])
    }
    try await withObserver(log.observer) {
      _ = try await root.obtain((any Gamma).self)
      _ = try? await root.obtain((any Service).self)
    }
    #expect(
      log.texts == [
        #"made UDITests.Beta in ["App"] for ["UDITests.Gamma", "UDITests.Alpha"]"#,
        #"made UDITests.Alpha in ["App"] for []"#, #"made UDITests.Gamma in ["App"] for []"#,
        #"missed UDITests.Service in ["App"] true"#,
      ])
  }

  @Test("What is closed: instances, then their context")
  func closing() async throws {
    let log = Log()
    root.register((any Alpha).self, lifetime: .context) {
      Made()
    }.onClose { _ in
      throw OutOfOrder(code: 1)
    }
    _ = root.link((any Alpha).self)
    try await withObserver(log.observer) {
      try await shop.close()
      try await shop.close()
      await #expect(throws: UDICloseError.self) { try await root.close() }
    }
    #expect(
      log.texts == [
        #"closed context in ["App", "Shop"] "#, #"closed UDITests.Alpha in ["App"] OutOfOrder(code: 1)"#,
        #"closed context in ["App"] "#,
      ])
  }

  @Test("No lock is held, and what the observer itself does is not observed", .silent)
  func reentrance() throws {
    root.register((any Alpha).self, lifetime: .unique) { Made() }
    root.register((any Beta).self, lifetime: .unique) { Made() }
    let count = Tally()
    let root = root
    let observer = UDIObserver { _ in
      count.add()
      #if DEBUG
        #expect(heldLocks == 0)
      #endif
      _ = root.link((any Gamma).self)
      _ = root.link((any Beta).self)
      _ = try? root.require((any Gamma).self)
      _ = root.snapshot()
    }
    withObserver(observer) {
      _ = root.link((any Alpha).self)
      _ = root.link((any Gamma).self)
    }
    #expect(count.count == 2)
    #expect(root.snapshot().uses.isEmpty)
  }

  @Test("The observer of the process gets what no task's observer gets")
  func process() async {
    // In a process of its own, because the observer is that of the whole process.
    await #expect(processExitsWith: .success) {
      let (log, other) = (Log(), Log())
      let root = UDIContext(tag: "App")
      precondition(UDIObserver.process == nil)
      UDIObserver.process = log.observer
      _ = root.link((any Alpha).self)
      withObserver(other.observer) { _ = root.link((any Alpha).self) }
      precondition(log.all.count == 1 && other.all.count == 1)
      UDIObserver.process = nil
      _ = root.link((any Alpha).self)
      precondition(log.all.count == 1)
    }
  }
}
