import Dispatch
import Foundation
import Synchronization
import Testing
import UDI
import UDITesting

// The code in "From start to end": `.ci/articles` compares it with the article.

struct StartAndEndArticle {
  protocol Database: Sendable { func close() async throws }
  struct Configuration: Sendable {}
  final class PostgresDatabase: Database {
    let isOpen = Mutex(true)
    static func open(_ configuration: Configuration) async throws -> PostgresDatabase { PostgresDatabase() }
    func close() async throws { isOpen.withLock { $0 = false } }
  }
  final class Report: Sendable {}
  protocol Mailer: Sendable {}
  struct SMTPMailer: Mailer {
    init(database: any Database) async throws {}
  }

  @Test func startAndEnd() async throws {
    let root = UDIContext(tag: "root")
    root.provide(Configuration())
    root.register((any Database).self) { context in
      try await PostgresDatabase.open(context.obtain(Configuration.self))
    }.onClose { database in
      try await database.close()
    }
    let database = try await root.obtain((any Database).self)
    #if hasFeature(InferSendableFromCaptures)
      root.register((any Mailer).self, using: SMTPMailer.init(database:))
    #else
      root.register((any Mailer).self) { context in
        try await SMTPMailer(database: context.obtain((any Database).self))
      }
    #endif
    try await root.warmUp()
    #expect(root.link((any Mailer).self) != nil)
    try await root.close()
    #expect((database as? PostgresDatabase)?.isOpen.withLock { $0 } == false)
    #expect(root.link((any Mailer).self) == nil)
  }

  @Test func aLimit() async throws {
    let root = UDIContext(tag: "root")
    root.provide(Configuration()).onClose { _ in }
    try await root.close(within: .seconds(10))
    #expect(root.link(Configuration.self) == nil)
  }

  @Test func closedUnderAnOperation() async throws {
    let root = UDIContext(tag: "root")
    try await root.withScope(tag: "request") { scope in
      scope.provide(Configuration())
      try await root.close()
      await #expect(throws: UDILinkError.self) { try await scope.obtain(Configuration.self) }
      #expect(throws: UDILinkError.self) { try scope.require(Configuration.self) }
    }
  }

  /// The first call of the factory ends only when the second one has begun.
  @Test func afterAResetTheNextTaskBeginsAtOnce() async throws {
    let root = UDIContext(tag: "root")
    let calls = Atomic(0)
    let (second, secondBegins) = AsyncStream<Void>.makeStream()
    let (first, firstBegins) = AsyncStream<Void>.makeStream()
    root.register(Report.self) {
      if calls.add(1, ordering: .relaxed).newValue == 1 {
        firstBegins.finish()
        for await _ in second {}
      } else {
        secondBegins.finish()
      }
      return Report()
    }
    let early = Task { try await root.obtain(Report.self) }
    for await _ in first {}
    root.reset()
    let late = try await root.obtain(Report.self)
    #expect(try await early.value !== late && root.link(Report.self) === late)
  }
}

/// A command-line tool.
struct CommandLineTool {
  nonisolated protocol Store: Sendable {
    func add(_ note: String) async throws
    func save() async throws
  }
  nonisolated struct MemoryStore: Store {
    func add(_ note: String) {}
    func save() {}
  }
  actor FileStore: Store {
    static let saved = Mutex<[String]>([])
    private var notes: [String] = []
    static func open() async throws -> FileStore { FileStore() }
    func add(_ note: String) async throws {
      // A signal that comes before the source is registered is lost.
      while note == "hang" {
        kill(getpid(), SIGINT)
        try await Task.sleep(for: .milliseconds(1))
      }
      notes.append(note)
    }
    func save() {
      let notes = if case .cancelled = UDIEnding.current { ["cancelled"] } else { notes }
      Self.saved.withLock { $0 += notes }
    }
  }

  nonisolated static func notes(_ arguments: [String]) async throws {
    signal(SIGINT, SIG_IGN)
    let program = Task {
      try await AppContext.withScope(tag: "notes") { scope in
        if arguments.contains("--dry-run") {
          scope.provide(MemoryStore(), as: (any Store).self)
        } else {
          scope.register((any Store).self) { try await FileStore.open() }.onClose { try await $0.save() }
        }
        try await scope.obtain((any Store).self).add(arguments.last ?? "")
      }
    }
    let source = DispatchSource.makeSignalSource(signal: SIGINT)
    source.setEventHandler { program.cancel() }
    source.activate()
    defer { source.cancel() }
    try await program.value
  }

  @Test func itClosesWhatItHasOpened() async {
    await #expect(processExitsWith: .success) {
      try await CommandLineTool.notes(["--dry-run", "Tea"])
      precondition(FileStore.saved.withLock { $0 }.isEmpty)
      try await CommandLineTool.notes(["Milk"])
      precondition(FileStore.saved.withLock { $0 } == ["Milk"] && AppContext.children.isEmpty)
    }
  }

  @Test func aSignalCancelsIt() async {
    await #expect(processExitsWith: .success) {
      alarm(60)  // A process that waits for ever is ended.
      do {
        try await CommandLineTool.notes(["hang"])
        preconditionFailure("It goes on")
      } catch { precondition(error is CancellationError, "\(error)") }
      precondition(FileStore.saved.withLock { $0 } == ["cancelled"] && AppContext.children.isEmpty)
    }
  }
}
