import Foundation
import Synchronization
import Testing
import UDI

// What "Concurrency" says about lookups that wait, and about main-actor modules. The rest of its code is in `StartArticles`.

nonisolated struct ConcurrencyArticle {
  final class Catalogue: Sendable {
    static func download() async throws -> Catalogue { Catalogue() }
  }

  final class Shelf: Sendable {
    let catalogue: Catalogue
    init(catalogue: Catalogue) { self.catalogue = catalogue }
  }

  nonisolated struct Catalogues: UDIModule {
    func register(in context: UDIContext) { context.register(Catalogue.self) { Catalogue() } }
  }

  /// Notes what happens, in order. Uses a lock of Foundation's, which the thread sanitizer understands.
  final class Journal: @unchecked Sendable {
    // Unchecked: `lock` guards the entries.
    private let lock = NSLock()
    private var entries: [String] = []
    var all: [String] { lock.withLock { entries } }
    func add(_ entry: String) { lock.withLock { entries.append(entry) } }
  }

  /// Makes a catalogue on a thread of its own, while several tasks wait for it and another task wants to run.
  ///
  /// - Parameters:
  ///   - waiting: How many tasks wait.
  ///   - factoryWaits: Whether the factory waits for the other task.
  /// - Returns: The order in which the factory and the other task ended.
  static func order(waiting: Int, factoryWaits: Bool) async -> [String] {
    let context = UDIContext(tag: "App")
    let journal = Journal()
    let (begun, ran) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    await withCheckedContinuation { ended in
      context.register(Catalogue.self) { @Sendable in
        for _ in 0..<waiting {
          Task.detached {
            // From here on the task keeps its thread, because it does not suspend before it has the catalogue.
            begun.signal()
            _ = context.link(Catalogue.self)
          }
        }
        for _ in 0..<waiting { begun.wait() }
        Task.detached {
          journal.add("task")
          ran.signal()
          ended.resume()
        }
        // If there were a thread for the task, it would run now.
        if factoryWaits { ran.wait() } else { for _ in 0..<10_000 { sched_yield() } }
        journal.add("factory")
        return Catalogue()
      }
      Thread.detachNewThread { _ = context.link(Catalogue.self) }
    }
    // The task may have ended first: wait for the factory.
    _ = context.link(Catalogue.self)
    return journal.all
  }

  /// In a process of its own, because the test takes all threads of the pool.
  @Test func tasksThatWaitTakeTheirThreadsFromAllOthers() async {
    await #expect(processExitsWith: .success) {
      let cores = ProcessInfo.processInfo.activeProcessorCount
      // One thread is left, so the task runs while the factory does.
      let before = await Self.order(waiting: cores - 1, factoryWaits: true)
      precondition(before == ["task", "factory"], "\(before)")
      // No thread is left. If the factory waited for the task, it would never end.
      let after = await Self.order(waiting: cores, factoryWaits: false)
      precondition(after == ["factory", "task"], "\(after)")
    }
  }

  @Test func whatIsMadeAlreadyIsFoundWithoutWaiting() async {
    let context = UDIContext(tag: "App")
    let calls = Atomic(0)
    context.register(Catalogue.self) {
      calls.add(1, ordering: .relaxed)
      return Catalogue()
    }
    let made = context.link(Catalogue.self)
    await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { context.link(Catalogue.self) === made } }
      for await isSame in group { #expect(isSame) }
    }
    #expect(calls.load(ordering: .relaxed) == 1)
  }

  // In the Swift 5 mode, no initialiser is `Sendable` without this feature.
  #if hasFeature(InferSendableFromCaptures)
    final class FileArchive: Archive {
      let log: any Log
      init(log: any Log) async throws {
        await Task.yield()
        self.log = log
      }
    }

    @Test func asynchronousInitialisers() async throws {
      let context = UDIContext(tag: "App")
      context.register((any Log).self) { Console() }
      context.register((any Archive).self, using: FileArchive.init(log:))
      let archive = try await context.obtain((any Archive).self)
      #expect(context.link((any Archive).self) as? FileArchive === archive as? FileArchive)
    }

    @MainActor @Test func asynchronousInitialisersOnTheMainActor() async throws {
      let context = UDIContext(tag: "App")
      context.register((any Log).self) { Console() }
      context.register((any Archive).self, using: FileArchive.init(log:))
      context.register(Draft.self) { Draft("empty") }
      context.register(using: Editor.init(draft:archive:))
      context.register(named: "read", using: Draft.init(archive:))
      let editor = try await context.obtain(Editor.self)
      #expect(editor.draft.text == "empty" && context.link(Editor.self) === editor)
      #expect(try await context.obtain(Draft.self, named: "read").text == "read")
    }
  #endif

  protocol Log: Sendable {}
  struct Console: Log {}
  protocol Archive: Sendable {}

  /// Not `Sendable`.
  final class Draft {
    let text: String
    init(_ text: String) { self.text = text }
    @MainActor convenience init(archive: any Archive) async throws {
      await Task.yield()
      self.init("read")
    }
  }
  @MainActor final class Editor {
    let draft: Draft
    init(draft: Draft, archive: (any Archive)?) async { self.draft = draft }
  }

  @Test func awaitFirst() async throws {
    let context = UDIContext(tag: "App")
    let catalogue = try await Catalogue.download()
    context.provide(catalogue)
    #expect(context.link(Catalogue.self) === catalogue)
  }

  /// In a process of its own: the detached tasks report to the process's reporter.
  @Test func inAMainActorModule() async {
    await #expect(processExitsWith: .success) {
      UDIReporter.process = .silent
      try await Self.lookUpInTheBackground()
      try await Self.waysOut()
    }
  }

  @MainActor static func lookUpInTheBackground() async throws {
    let context = UDIContext(tag: "App")
    context.register(Catalogue.self) { Catalogue() }
    let early = await Task.detached { context.link(Catalogue.self) }.value
    let made = try await Task.detached { try await context.obtain(Catalogue.self) }.value
    let later = await Task.detached { context.link(Catalogue.self) }.value
    precondition(early == nil && later === made)
  }

  @MainActor static func waysOut() async throws {
    let context = UDIContext(tag: "App")
    func expect(_ name: UDIName, isFound: Bool) async {
      let number = await Task.detached { context.link(Int.self, named: name) }.value
      precondition((number != nil) == isFound, "\(name)")
    }
    context.register(Int.self, named: "warmed up") { 1 }
    await expect("warmed up", isFound: false)  // Values are made on the main actor, too.
    let error = await Task.detached { () -> (any Error)? in
      do { _ = try context.require(Int.self, named: "warmed up") } catch { return error }
      return nil
    }.value
    guard case .isolatedElsewhere? = (error as? UDILinkError)?.cause else { preconditionFailure("\(error as Any)") }
    try await context.warmUp()
    await expect("warmed up", isFound: true)
    context.register(Int.self, named: "unique", lifetime: .unique) { 2 }
    precondition(context.link(Int.self, named: "unique") == 2)
    await expect("unique", isFound: false)
    context.provide(3, named: "provided")
    await expect("provided", isFound: true)
    context.register(Int.self, named: "closure", isolation: nil) { 4 }
    await expect("closure", isFound: false)
    context.register(Int.self, named: "function", five)
    await expect("function", isFound: false)
    context.register(Int.self, named: "function", isolation: nil, five)
    await expect("function", isFound: true)
    context.install(Catalogues())
    let catalogue = await Task.detached { context.link(Catalogue.self) }.value
    precondition(catalogue != nil)
    #if hasFeature(InferSendableFromCaptures)
      context.register(isolation: nil, using: Shelf.init(catalogue:))
      let shelf = await Task.detached { context.link(Shelf.self) }.value
      precondition(shelf != nil)
    #endif
  }

  @Sendable static func five() -> Int { 5 }
}
