import Synchronization
import Testing
import UDI
import UDIInspector

// The code in "From start to end": `.ci/articles` compares it with the article.

struct StartAndEndArticle {
  protocol Database: Sendable {
    func begin() async throws -> Transaction
    func close() async throws
  }
  struct Configuration: Sendable {}
  final class PostgresDatabase: Database {
    let isOpen = Mutex(true)
    static func open(_ configuration: Configuration) async throws -> PostgresDatabase { PostgresDatabase() }
    func begin() async throws -> Transaction { Transaction() }
    func close() async throws { isOpen.withLock { $0 = false } }
  }
  final class Transaction: Sendable {
    static let ended = Mutex(false)
    static let hasCommitted = Mutex(false)
    func run(_ statement: String) async throws {}
    func end() async { Self.ended.withLock { $0 = true } }
    func commit() async throws { Self.hasCommitted.withLock { $0 = true } }
    static let rolledBack = Mutex(0)
    func rollBack() async { Self.rolledBack.withLock { $0 += 1 } }
  }
  actor JobQueue {
    private(set) var isFlushed = false
    private var stopping: CheckedContinuation<Void, any Error>?
    func run() async throws { try await withCheckedThrowingContinuation { stopping = $0 } }
    func fail() async {
      while stopping == nil { await Task.yield() }
      stopping?.resume(throwing: CancellationError())
    }
    func flush() { isFlushed = true }
  }
  struct Request: Sendable { let user: String }
  nonisolated final class Receipt: Sendable {
    init(request: Request, database: any Database) {}
  }
  protocol Mailer: Sendable {}
  struct SMTPMailer: Mailer {
    init(database: any Database) async throws {}
  }

  @Test func startAndEnd() async throws {
    let root = UDIContext(tag: "root")
    root.provide(Configuration())
    root.register((any Database).self, lifetime: .context) { context in
      try await PostgresDatabase.open(context.obtain(Configuration.self))
    } onClose: { database in
      try await database.close()
    }
    let database = try await root.obtain((any Database).self)
    #if hasFeature(InferSendableFromCaptures)
      root.register((any Mailer).self, lifetime: .context, using: SMTPMailer.init(database:))
    #else
      root.register((any Mailer).self, lifetime: .context) { context in
        try await SMTPMailer(database: context.obtain((any Database).self))
      }
    #endif
    try await root.warmUp()
    #expect(root.link((any Mailer).self) != nil)
    root.register(Transaction.self, lifetime: .scope) { context in
      try await context.obtain((any Database).self).begin()
    } onClose: { transaction in
      await transaction.end()
    }
    try await root.withScope(tag: "request") { scope in
      let transaction = try await scope.obtain(Transaction.self)
      try await transaction.run("…")
    }
    #expect(Transaction.ended.withLock { $0 })
    try await root.close()
    #expect((database as? PostgresDatabase)?.isOpen.withLock { $0 } == false)
    #expect(root.link((any Mailer).self) == nil)
  }

  @Test func aLimitAndHowItEnded() async throws {
    let root = UDIContext(tag: "root")
    root.register((any Database).self, lifetime: .context) { () async throws in PostgresDatabase() }
    root.register(Transaction.self, lifetime: .scope) { context in
      try await context.obtain((any Database).self).begin()
    } onClose: { transaction in
      if case .returned = UDIEnding.current { return }
      await transaction.rollBack()
    }
    _ = try? await root.withScope(tag: "request") { scope in
      _ = try await scope.obtain(Transaction.self)
      throw CancellationError()
    }
    #expect(Transaction.rolledBack.withLock { $0 } == 1)
    try await root.withScope(tag: "request") { scope in
      let transaction = try await scope.obtain(Transaction.self)
      try await transaction.run("…")
      try await transaction.commit()
    }
    #expect(Transaction.hasCommitted.withLock { $0 } && Transaction.rolledBack.withLock { $0 } == 1)
    // Closed in the middle.
    try await root.withScope(tag: "request") { scope in
      let transaction = try await scope.obtain(Transaction.self)
      try await root.close()
      try await transaction.run("…")
      await #expect(throws: UDILinkError.self) { try await scope.obtain(Transaction.self) }
    }
    #expect(Transaction.rolledBack.withLock { $0 } == 2)
    try await root.close(within: .seconds(10))
  }

  @Test func whatRuns() async throws {
    let root = UDIContext(tag: "root")
    @Sendable func run() async throws {
      root.register(JobQueue.self, lifetime: .context) {
        JobQueue()
      } onClose: { queue in
        await queue.flush()
      }.running { queue in
        try await queue.run()
      }
      try await root.warmUp()
      try await root.untilClosed()
    }
    // A failure is reported if it comes before the program waits.
    try await withReporter(.silent) {
      let program = Task { try await run() }
      while root.link(JobQueue.self) == nil { await Task.yield() }
      let queue = try root.require(JobQueue.self)
      await queue.fail()
      await #expect(throws: UDIFailure.self) { try await program.value }
      try await root.close()
      #expect(await queue.isFlushed)
    }
  }

  @Test func aScopeThatIsSetUp() async throws {
    let (root, account) = (UDIContext(tag: "root"), 5)
    let session = try await root.makeScope(tag: "session") { session in
      session.provide(account)
      try await session.warmUp()
    }
    #expect(session.link(Int.self) == 5)
  }

  #if hasFeature(InferSendableFromCaptures)
    @Test func check() throws {
      let root = UDIContext(tag: "root")
      root.register(lifetime: .scope, using: Receipt.init(request:database:))
      func check() throws {
        let sample = try root.makeScope(tag: "sample")
        sample.provide(Request(user: "sample"))
        let unmet = root.unmetNeeds()
        root.removeChild(sample)
        guard unmet.failures.isEmpty else { throw unmet }
      }
      let unmet = #expect(throws: UDIUnmetNeeds.self) { try check() }
      #expect(unmet?.failures.count == 1 && unmet?.description.contains("Database") == true)
      root.register((any Database).self, lifetime: .context) { () async throws in PostgresDatabase() }
      try check()
      #expect(root.children.isEmpty && root.unmetNeeds().unchecked.count == 1)
    }
  #endif

  /// The first call of the factory ends only when the second one has begun.
  @Test func afterAResetTheNextTaskBeginsAtOnce() async throws {
    let root = UDIContext(tag: "root")
    let calls = Atomic(0)
    let (second, secondBegins) = AsyncStream<Void>.makeStream()
    let (first, firstBegins) = AsyncStream<Void>.makeStream()
    root.register(Transaction.self, lifetime: .context) {
      if calls.add(1, ordering: .relaxed).newValue == 1 {
        firstBegins.finish()
        for await _ in second {}
      } else {
        secondBegins.finish()
      }
      return Transaction()
    }
    let early = Task { try await root.obtain(Transaction.self) }
    for await _ in first {}
    root.reset()
    let late = try await root.obtain(Transaction.self)
    #expect(try await early.value !== late && root.link(Transaction.self) === late)
  }
}
