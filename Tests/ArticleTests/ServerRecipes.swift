import Dispatch
import Foundation
import Synchronization
import Testing
import UDI
import UDIInspector
import UDITesting

// The code in the article "Recipes: servers": `.ci/articles` compares it with the article.

enum ServerRecipes {
  nonisolated struct Broken: Error {}

  nonisolated final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  nonisolated struct User: Sendable { let name: String }
  nonisolated final class RequestLog: Sendable {
    static let flushed = Mutex<[String]>([])
    private let user: User
    private let lines = Mutex<[String]>([])
    init(user: User) { self.user = user }
    func add(_ line: String) { lines.withLock { $0.append("\(user.name): \(line)") } }
    func flush() {
      let lines = lines.withLock { $0 }
      Self.flushed.withLock { $0 += lines }
    }
  }
  nonisolated final class Handler: UDIFinalObject, Sendable {
    let _attachedContext = UDIAttachment()
    func answer() throws -> String {
      try require(RequestLog.self).add("answered")
      return "Hello, \(try require(User.self).name)"
    }
  }

  nonisolated final class Transaction: Sendable {
    private let journal: Journal
    init(journal: Journal) { self.journal = journal }
    func run(_ statement: String) async throws {}
    func commit() async throws { journal.add("committed") }
    func rollBack() async { journal.add("rolled back") }
  }
  nonisolated protocol Database: Sendable { func begin() async throws -> Transaction }
  nonisolated struct MemoryDatabase: Database {
    let journal: Journal
    func begin() async throws -> Transaction { Transaction(journal: journal) }
  }

  actor JobQueue {
    private(set) var isFlushed = false
    private var stopping: CheckedContinuation<Void, any Error>?
    func run() async throws { try await withCheckedThrowingContinuation { stopping = $0 } }
    func fail() async {
      while stopping == nil { await Task.yield() }
      stopping?.resume(throwing: Broken())
    }
    func flush() { isFlushed = true }
  }

  // MARK: - Tenants

  nonisolated final class Pool: Sendable {
    let name: String
    init(name: String) { self.name = name }
    static func open(_ name: String) async throws -> Pool { Pool(name: name) }
  }

  @Test static func tenants() async throws {
    let root = UDIContext(tag: "Server")
    root.search = .ancestors  // Before the tenants are made: they take it over.
    for name in ["north", "south"] {
      let tenant = try root.makeChild(tag: name)
      tenant.register(Pool.self) { try await Pool.open(name) }
    }
    root.register(RequestLog.self, lifetime: .scope) { context in
      RequestLog(user: User(name: try context.require(Pool.self).name))
    }
    try await root.warmUp()
    let error = #expect(throws: UDILinkError.self) { try root.require(Pool.self) }
    #expect(error?.description.contains("north") == true)
    for tenant in root.children {
      #expect(tenant.link(Pool.self)?.name == tenant.tag)
      try await tenant.withScope(tag: "request") { scope in
        #expect(scope.link(Pool.self)?.name == tenant.tag)
        _ = try scope.require(RequestLog.self)
      }
    }
    try await root.close()
  }

  nonisolated struct Tenant: Sendable { let name: String }

  @Test static func kindsOfScopes() async throws {
    let root = UDIContext(tag: "Server")
    root.register(Pool.self, lifetime: .scope("tenant")) { context in
      try await Pool.open(context.require(Tenant.self).name)
    }
    root.register(RequestLog.self, lifetime: .scope("request")) { context in
      RequestLog(user: try context.require(User.self))
    }
    root.register(Transaction.self, lifetime: .scope("transaction")) { context in
      try await context.obtain(Pool.self).begin()
    }
    for name in ["north", "south"] {
      let tenant = try await root.makeScope(tag: name, kind: "tenant") { tenant in
        tenant.provide(Tenant(name: name))
        try await tenant.warmUp()
      }
      #expect(tenant.link(Pool.self)?.name == name)
      try await tenant.withScope(tag: "request") { request in
        request.provide(User(name: "Ann"))
        try await request.withScope(tag: "transaction") { scope in
          try await scope.obtain(Transaction.self).run("…")
        }
        let (one, other) = (try request.makeScope(tag: "transaction"), try request.makeScope(tag: "transaction"))
        let (first, second) = (try await one.obtain(Transaction.self), try await other.obtain(Transaction.self))
        #expect(first !== second && one.link(RequestLog.self) === request.link(RequestLog.self))
        #expect(throws: UDILinkError.self) { try request.require(Transaction.self) }
      }
    }
    #expect(throws: UDILinkError.self) { try root.require(Pool.self) }
    try await root.close()
  }

  actor Tenants {
    private let root: UDIContext
    private var tenants: [String: Task<UDIContext, any Error>] = [:]
    init(root: UDIContext) { self.root = root }

    func tenant(_ name: String) async throws -> UDIContext {
      let task =
        tenants[name]
        ?? Task { [root] in
          try await root.makeScope(tag: name, kind: "tenant") { tenant in
            tenant.provide(Tenant(name: name))
            try await tenant.warmUp()
          }
        }
      tenants[name] = task
      do { return try await task.value } catch {
        if tenants[name] == task { tenants[name] = nil }  // The next request tries again.
        throw error
      }
    }

    func close(_ name: String) async throws { try await tenants.removeValue(forKey: name)?.value.close() }
  }

  @Test(.timeLimit(.minutes(10))) static func tenantsAtTheirFirstRequest() async throws {
    let root = UDIContext(tag: "Server")
    let calls = Atomic(0)
    root.register(Pool.self, lifetime: .scope("tenant")) { context in
      if calls.add(1, ordering: .relaxed).newValue == 1 { throw Broken() }
      return try await Pool.open(context.require(Tenant.self).name)
    }
    let tenants = Tenants(root: root)
    await #expect(throws: UDIWarmUpError.self) { try await tenants.tenant("north") }
    #expect(root.children.isEmpty)
    async let one = tenants.tenant("north")
    async let other = tenants.tenant("north")
    let (first, second) = (try await one, try await other)
    #expect(first == second && first.link(Pool.self)?.name == "north" && root.children == [first])
    let south = try await tenants.tenant("south")
    #expect(south.link(Pool.self)?.name == "south")
    try await tenants.close("north")
    #expect(root.children == [south])
    let again = try await tenants.tenant("north")
    #expect(again != first && again.link(Pool.self) != nil && calls.load(ordering: .relaxed) == 4)
    try await root.close()
  }

  // MARK: - Work on a schedule

  nonisolated final class Sweeper: UDIFinalObject, Sendable {
    let _attachedContext = UDIAttachment()
    let interval: Duration
    init(every interval: Duration) { self.interval = interval }

    func run() async throws {
      while let context = attachedContext {
        try await Task.sleep(for: interval)
        do {
          try await context.makeScope(tag: "sweep") { scope in try await sweep(scope) }.close()
        } catch UDITreeError.closed { return }  // The context is being closed.
      }
    }
  }

  @Test(.timeLimit(.minutes(10))) static func sweeping() async throws {
    let root = UDIContext(tag: "Server")
    let journal = Journal()
    root.provide(journal)
    root.provide(Sweeper(every: .zero)).running { try await $0.run() }
    while journal.all.count < 3 { await Task.yield() }
    try await root.close()
    #expect(Set(journal.all) == ["sweep"])
  }

  @Test(.timeLimit(.minutes(10))) static func sweepingLater() async throws {
    let root = UDIContext(tag: "Server")
    root.provide(Sweeper(every: .seconds(60))).running { try await $0.run() }
    try await root.close()
    #expect(root.link(Sweeper.self) == nil)
  }

  /// Something else is closed first, so the sweeper is not cancelled yet.
  @Test(.timeLimit(.minutes(10))) static func sweepingWhileTheContextIsClosed() async throws {
    let root = UDIContext(tag: "Server")
    let journal = Journal()
    root.provide(journal)
    let sweeper = Sweeper(every: .zero)
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    root.provide(sweeper).running { sweeper in
      defer { end.finish() }
      try await sweeper.run()
    }
    root.provide(1).onClose { _ in for await _ in ended {} }
    while journal.all.isEmpty { await Task.yield() }
    try await root.close()
    #expect(root.link(Sweeper.self) == nil && root.children.isEmpty)
  }

  // MARK: - Requests

  struct Requests {
    let root = UDIContext(tag: "Server")

    // In the Swift 5 mode, no initialiser is `Sendable` without this feature.
    #if hasFeature(InferSendableFromCaptures)
      @Test func services() async throws {
        root.register(lifetime: .scope, using: RequestLog.init(user:)).onClose { $0.flush() }
        let root = root
        func handle(_ request: UDIContext) async throws -> String {
          #expect(root.link(User.self) == nil)
          return try Handler().attached(to: request).answer()
        }
        let answer = try await root.withScope(tag: "request") { request in
          request.provide(User(name: "Ann"))
          return try await handle(request)
        }
        #expect(answer == "Hello, Ann" && RequestLog.flushed.withLock { $0 } == ["Ann: answered"])
        #expect(root.children.isEmpty)
      }

      @Test func check() async throws {
        root.register(lifetime: .scope, using: RequestLog.init(user:))
        root.register(Transaction.self, lifetime: .scope) { context in
          try await context.obtain((any Database).self).begin()
        }
        let root = root
        func check() async throws {
          let unmet = try await root.withScope(tag: "sample") { sample in
            sample.provide(User(name: "sample"))
            return root.unmetNeeds()
          }
          guard unmet.failures.isEmpty else { throw unmet }
          #expect(unmet.unchecked.count == 1)
        }
        try await check()
        root.register(using: Notifier.init(database:))
        let unmet = await #expect(throws: UDIUnmetNeeds.self) { try await check() }
        #expect(unmet?.failures.count == 1 && unmet?.description.contains("Database") == true)
        #expect(root.children.isEmpty)
      }

      nonisolated struct Notifier: Sendable { let database: any Database }

      nonisolated final class Ledger: Sendable { init(tenant: Tenant) {} }
      nonisolated final class Entry: Sendable { init(ledger: Ledger, log: RequestLog) {} }

      @Test func checkOfKinds() throws {
        root.register(lifetime: .scope("tenant"), using: Ledger.init(tenant:))
        root.register(lifetime: .scope("request"), using: RequestLog.init(user:))
        root.register(lifetime: .scope("transaction"), using: Entry.init(ledger:log:))
        #expect(root.unmetNeeds().failures.count == 2)
        func check() throws -> UDIUnmetNeeds {
          let tenant = try root.makeScope(tag: "sample", kind: "tenant")
          defer { tenant.removeFromParent() }
          tenant.provide(Tenant(name: "sample"))
          let request = try tenant.makeScope(tag: "request")
          request.provide(User(name: "sample"))
          try request.makeScope(tag: "transaction")
          let unmet = root.unmetNeeds()
          return unmet
        }
        let unmet = try check()
        #expect(unmet.failures.isEmpty && unmet.unchecked.isEmpty && root.children.isEmpty)
      }
    #endif
  }

  /// A transaction for each request.
  struct Transactions {
    let root = UDIContext(tag: "Server")
    let journal = Journal()

    init() {
      root.provide(MemoryDatabase(journal: journal), as: (any Database).self)
      root.register(Transaction.self, lifetime: .scope) { context in
        try await context.obtain((any Database).self).begin()
      }.onClose { transaction in
        guard case .returned = UDIEnding.current else { return await transaction.rollBack() }
        try await transaction.commit()
      }
    }

    private func answer(_ handle: @Sendable (UDIContext) async throws -> Int) async throws -> Int {
      let answer = try await root.withScope(tag: "request") { scope in
        try await handle(scope)
      }
      return answer
    }

    /// By the handler, or at the end of the program.
    @Test(arguments: [false, true]) func aScopeThatIsClosedAlready(_ isRoot: Bool) async {
      let root = root
      await #expect(throws: UDIUntimelyEnd.scopeClosed) {
        try await answer { scope in
          _ = try await scope.obtain(Transaction.self)
          try await (isRoot ? root : scope).close()
          return 1
        }
      }
      #expect(journal.all == ["rolled back"])
    }

    @Test func anAnswerCommits() async throws {
      _ = try await answer { scope in
        try await scope.obtain(Transaction.self).run("…")
        return 1
      }
      #expect(journal.all == ["committed"])
      #expect(try await answer { _ in 2 } == 2)
      #expect(journal.all == ["committed"] && root.children.isEmpty)
    }

    @Test func anErrorRollsBack() async {
      await #expect(throws: Broken.self) {
        try await answer { scope in
          _ = try await scope.obtain(Transaction.self)
          throw Broken()
        }
      }
      let (begun, begins) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await answer { scope in
          _ = try await scope.obtain(Transaction.self)
          begins.finish()
          try await Task.sleep(for: .seconds(3600))
          return 1
        }
      }
      for await _ in begun {}
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(journal.all == ["rolled back", "rolled back"])
    }

    @Test func anErrorOfTheCommitIsThrown() async throws {
      let journal = journal
      root.register(Transaction.self, lifetime: .scope, replaces: true) {
        Transaction(journal: journal)
      }.onClose { _ in
        throw Broken()
      }
      let error = await #expect(throws: UDICloseError.self) {
        try await answer { scope in
          _ = try await scope.obtain(Transaction.self)
          return 1
        }
      }
      #expect(error?.failures.map { $0.error is Broken } == [true] && root.children.isEmpty)
    }

    @Test func aModuleOfServicesForEachRequest() throws {
      #if hasFeature(InferSendableFromCaptures)
        struct RequestModule: UDIModule {
          func register(in context: UDIContext) {
            context.defaultLifetime = .scope
            context.register(using: RequestLog.init(user:)).onClose { $0.flush() }
          }
        }
        let module = UDIContext(tag: "module")
        module.install(RequestModule())
        #expect(module.registrations(of: RequestLog.self).count == 1)
      #endif
    }
  }

  nonisolated struct ServerModule: UDIModule {
    func register(in context: UDIContext) {
      context.register(lifetime: .scope) { context in
        try RequestLog(user: context.require())
      }.onClose { log in
        log.flush()
      }
    }
  }

  struct RequestTests {
    @Test(.ownAppContext { $0.install(ServerModule()) })
    func requestsFindWhatTheyNeed() async throws {
      try AppContext.makeScope(tag: "sample").provide(User(name: "sample"))
      await expectEverythingIsMade()
    }
  }

  // MARK: - Services that run

  struct Running {
    @Test func untilTheEnd() async throws {
      let root = UDIContext(tag: "root")
      @Sendable func run() async throws {
        root.register(JobQueue.self) {
          JobQueue()
        }.onClose { queue in
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
  }

  struct Buffered {
    @Test func aStreamGoesThroughItsBufferAfterCancellation() async {
      let (numbers, source) = AsyncStream.makeStream(of: Int.self)
      for number in 1...3 { source.yield(number) }
      let task = Task {
        var seen: [Int] = []
        for await number in numbers { seen.append(number) }
        return seen
      }
      task.cancel()
      #expect(await task.value == [1, 2, 3])
    }
  }

  // MARK: - SIGTERM

  nonisolated struct Request: Sendable {
    let name: String
    let reply: @Sendable (String) -> Void
  }

  nonisolated static func serve(_ root: UDIContext, with server: Server, limit: Duration = .seconds(10)) async throws {
    signal(SIGTERM, SIG_IGN)  // Before `activate`. Otherwise, the signal ends the process at once.
    let (signals, hasCome) = AsyncStream.makeStream(of: Void.self)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM)
    source.setEventHandler { hasCome.finish() }
    await withCheckedContinuation { isRegistered in
      source.setRegistrationHandler { isRegistered.resume() }  // Until then, a signal would be lost.
      source.activate()
    }

    let front = try root.makeChild(tag: "front")
    var failures: [any Error] = []
    do {
      try await withThrowingTaskGroup { group in
        group.addTask {
          try await root.warmUp()
          front.provide(server).running { await $0.run() }
          try await root.untilClosed()
        }
        group.addTask { for await _ in signals {} }
        defer { group.cancelAll() }
        _ = try await group.next()
      }
    } catch is CancellationError {} catch { failures.append(error) }
    do { try await front.close(within: limit) } catch { failures.append(error) }
    do { try await root.close(within: limit) } catch { failures.append(error) }
    source.cancel()
    if let first = failures.first { throw first }
  }

  nonisolated final class Server: Sendable {
    private let (requests, inlet) = AsyncStream.makeStream(of: Request.self)
    private let answer: @Sendable (Request) async -> Void
    init(answer: @escaping @Sendable (Request) async -> Void) { self.answer = answer }

    /// Returns false as soon as the server takes no more requests.
    func take(_ request: Request) -> Bool {
      if case .enqueued = inlet.yield(request) { true } else { false }
    }

    func run() async {
      await withTaskCancellationHandler {
        // A task of its own is not cancelled, and neither are the requests.
        await Task {
          await withDiscardingTaskGroup { group in
            for await request in requests { group.addTask { await self.answer(request) } }
          }
        }.value
      } onCancel: {
        inlet.finish()
      }
    }
  }

  /// A server whose requests wait until they may go on. Each test has one in a process of its own, because signals are the
  /// process's.
  nonisolated final class Trial: Sendable {
    let root = UDIContext(tag: "root")
    let journal = Journal()
    let server: Server
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    let goOn: AsyncStream<Void>.Continuation

    init() {
      alarm(60)  // A process that waits for ever is ended.
      let (root, journal, begins) = (root, journal, begins)
      let (mayGoOn, goOn) = AsyncStream.makeStream(of: Void.self)
      self.goOn = goOn
      root.register((any Database).self) { () async in
        MemoryDatabase(journal: journal)
      }.onClose { _ in
        journal.add("database closed")
      }
      root.register(Transaction.self, lifetime: .scope) { context in
        try await context.obtain((any Database).self).begin()
      }
      server = Server { request in
        let answer = try? await root.withScope(tag: "request") { scope in
          begins.finish()
          for await _ in mayGoOn {}
          // Made only now.
          let transaction = try? await scope.obtain(Transaction.self)
          return transaction == nil ? "finds nothing" : "is answered"
        }
        request.reply("\(request.name) \(answer ?? "fails")")
      }
    }

    func take(_ name: String) -> Bool {
      let journal = journal
      return server.take(Request(name: name) { journal.add($0) })
    }

    /// Sends one signal, and waits until the server takes no more requests.
    func stop() async {
      kill(getpid(), SIGTERM)
      while server.take(Request(name: "") { _ in }) { await Task.yield() }
    }
  }

  struct Signals {
    @Test func requestsThatHaveBegunAreAnswered() async {
      await #expect(processExitsWith: .success) {
        let trial = Trial()
        let serving = Task { try await serve(trial.root, with: trial.server) }
        precondition(trial.take("The first"))
        for await _ in trial.begun {}
        await trial.stop()
        precondition(!trial.take("Too late"))
        precondition(trial.root.link((any Database).self) != nil && trial.journal.all.isEmpty)
        trial.goOn.finish()
        try await serving.value
        let lines = trial.journal.all
        precondition(lines.first == "The first is answered" && lines.last == "database closed", "\(lines)")
        precondition(trial.root.link((any Database).self) == nil)
      }
    }

    @Test func aRequestThatHangsIsLeftBehind() async {
      await #expect(processExitsWith: .success) {
        let trial = Trial()
        let serving = Task { try await serve(trial.root, with: trial.server, limit: .milliseconds(10)) }
        precondition(trial.take("The first"))
        for await _ in trial.begun {}
        await trial.stop()
        let result = await serving.result
        guard case .failure(let error) = result, let error = error as? UDICloseError else { fatalError("\(result)") }
        precondition(error.failures.first?.error as? UDIUntimelyEnd == .notInTime, "\(error)")
        precondition("\(error)".contains("Server"), "\(error)")
        // On a busy machine, the database's closer is left behind, too, and ends a moment later.
        while trial.journal.all.isEmpty { await Task.yield() }
        precondition(trial.journal.all == ["database closed"], "\(trial.journal.all)")
        trial.goOn.finish()
        while trial.journal.all.count == 1 { await Task.yield() }
        precondition(trial.journal.all.last == "The first finds nothing", "\(trial.journal.all)")
      }
    }

    @Test func theScopesOfRequestsThatHang() async throws {
      let root = UDIContext(tag: "root")
      let front = try root.makeChild(tag: "front")
      let (mayEnd, ends) = AsyncStream.makeStream(of: Void.self)
      front.provide(1).running { _ in
        try await root.withScope(tag: "request 7") { _ in await Task { for await _ in mayEnd {} }.value }
      }
      while root.find("request 7") == nil { await Task.yield() }
      await #expect(throws: UDICloseError.self) { try await front.close(within: .zero) }
      #expect(root.children.map(\.tag) == ["request 7"])
      ends.finish()
      try await root.close()
    }

    @Test func whatCannotBeMadeEndsTheProgramBeforeARequest() async {
      await #expect(processExitsWith: .success) {
        let trial = Trial()
        trial.root.register(JobQueue.self) { () async throws -> JobQueue in throw Broken() }
        precondition(trial.take("The first"))
        do {
          try await serve(trial.root, with: trial.server)
          preconditionFailure("It is not noticed")
        } catch { precondition(error is UDIWarmUpError, "\(error)") }
        precondition(trial.journal.all == ["database closed"], "\(trial.journal.all)")
      }
    }

    @Test func whatFailsEndsTheProgram() async {
      await #expect(processExitsWith: .success) {
        let trial = Trial()
        let queue = JobQueue()
        trial.root.provide(queue).running { try await $0.run() }
        let serving = Task { try await serve(trial.root, with: trial.server) }
        precondition(trial.take("The first"))
        for await _ in trial.begun {}
        trial.goOn.finish()
        await queue.fail()
        let result = await serving.result
        guard case .failure(let error) = result, let error = error as? UDIFailure else { fatalError("\(result)") }
        precondition(error.error is Broken, "\(error)")
        precondition(trial.journal.all == ["The first is answered", "database closed"], "\(trial.journal.all)")
      }
    }

    @Test func theSignalMayComeDuringTheStart() async {
      await #expect(processExitsWith: .success) {
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        let trial = Trial()
        trial.root.register(JobQueue.self) { () async throws -> JobQueue in
          begins.finish()
          for await _ in never {}
          throw CancellationError()
        }
        let serving = Task { try await serve(trial.root, with: trial.server) }
        for await _ in begun {}
        kill(getpid(), SIGTERM)
        try await serving.value
        precondition(trial.root.link((any Database).self) == nil)
      }
    }

    @Test func cancellingItsTaskStopsTheServer() async {
      await #expect(processExitsWith: .success) {
        let trial = Trial()
        let serving = Task { try await serve(trial.root, with: trial.server) }
        precondition(trial.take("The first"))
        for await _ in trial.begun {}
        serving.cancel()
        while trial.take("") { await Task.yield() }
        trial.goOn.finish()
        try await serving.value
        let lines = trial.journal.all
        precondition(lines.contains("The first is answered") && lines.last == "database closed", "\(lines)")
      }
    }

    @Test func nothingIsLeft() async {
      await #expect(processExitsWith: .success) {
        weak var root: UDIContext?
        do {
          let trial = Trial()
          root = trial.root
          let serving = Task { try await serve(trial.root, with: trial.server) }
          precondition(trial.take("The first"))
          trial.goOn.finish()
          for await _ in trial.begun {}
          await trial.stop()
          try await serving.value
        }
        while root != nil { await Task.yield() }
      }
    }
  }
}

extension ServerRecipes.Sweeper {
  nonisolated func sweep(_ scope: UDIContext) async throws {
    try scope.require(ServerRecipes.Journal.self).add(scope.tag)
  }
}

extension ServerRecipes.Pool {
  nonisolated func begin() async throws -> ServerRecipes.Transaction {
    ServerRecipes.Transaction(journal: ServerRecipes.Journal())
  }
}
