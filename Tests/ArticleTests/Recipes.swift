import Synchronization
import Testing
import UDI
import UDITesting

// The code in the article "Recipes: plug-ins and more": `.ci/articles` compares it with the article.

nonisolated private protocol MusicPlayer: AnyObject, Sendable {}
nonisolated private final class VendorPlayer: Sendable {}
extension VendorPlayer: MusicPlayer {}

nonisolated private protocol Log: Sendable { func add(_ line: String) }
nonisolated private struct NoLog: Log { func add(_ line: String) {} }

nonisolated private final class Mailer: Sendable {
  let log: any Log
  init(log: any Log) { self.log = log }
}

nonisolated private final class Courier: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  var log: (any Log)? { linkInLine((any Log).self) }
}

nonisolated private protocol Checker: Sendable { func faults(in text: String) -> [String] }
nonisolated private struct Spelling: Checker { func faults(in text: String) -> [String] { ["a misspelt word"] } }
nonisolated private struct Grammar: Checker { func faults(in text: String) -> [String] { ["a missing verb"] } }

nonisolated private final class Thesaurus: UDIObject, Checker {
  let _attachedContext = UDIAttachment()
  func didAttachContext() { bind(self, as: (any Checker).self, named: "thesaurus") }
  func faults(in text: String) -> [String] { ["a better word"] }
}

nonisolated private protocol Store: Sendable { var notes: [String] { get } }
nonisolated private struct DiskStore: Store { var notes: [String] { ["on disk"] } }
nonisolated private struct MemoryStore: Store { let notes: [String] }
nonisolated private final class CountingStore: Store {
  let base: any Store
  let reads = Mutex(0)
  init(base: any Store) { self.base = base }
  var notes: [String] {
    reads.withLock { $0 += 1 }
    return base.notes
  }
}

nonisolated private struct Services: UDIModule, Hashable, Sendable {
  enum Mode { case live, preview }
  let mode: Mode
  func register(in context: UDIContext) {
    switch mode {
    case .live: context.register((any Store).self) { DiskStore() }
    case .preview: context.register((any Store).self) { MemoryStore(notes: ["A note"]) }
    }
  }
}

nonisolated private struct Flags: Sendable { var storesOnDisk: Bool }

nonisolated private final class Reminder: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  func remind() async throws -> String {
    try await require((any Clock<Duration>).self).sleep(for: .seconds(3600))
    return "An hour has passed."
  }
}

nonisolated private struct ImpatientClock: Clock {
  var now: ContinuousClock.Instant { ContinuousClock.now }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}

nonisolated private protocol Printer: Sendable {}
nonisolated private struct Laser: Printer {}
nonisolated private final class Editor: Sendable {
  let printer: @Sendable () -> (any Printer)?
  init(printer: @escaping @Sendable () -> (any Printer)?) { self.printer = printer }
}

nonisolated extension UDILifetime {
  static let login = UDILifetime("login")
}
nonisolated private final class Token: Sendable {}

@MainActor private final class Document {
  var undo: UndoStack?
}
@MainActor private final class UndoStack {
  weak var document: Document?
}

struct Recipes {
  let context = UDIContext(tag: "App")

  @Test func anObjectThatIsNotYours() {
    withExtendedLifetime(VendorPlayer()) { player in
      context.provide(VendorPlayer(), as: (any MusicPlayer).self)
      context.bind(player, as: (any MusicPlayer).self, named: "borrowed")
      #expect(context.link((any MusicPlayer).self) != nil && context.link((any MusicPlayer).self) !== player)
      #expect(context.link((any MusicPlayer).self, named: "borrowed") === player)
    }
    #expect(context.link((any MusicPlayer).self) != nil)
    #expect(context.link((any MusicPlayer).self, named: "borrowed") == nil)
  }

  @Test func unbindTellsAConsumerOfTheEnd() async {
    let player = VendorPlayer()
    context.bind(player, as: (any MusicPlayer).self)
    var found: [Bool] = []
    for await player in context.updates(of: (any MusicPlayer).self).prefix(2) {
      found.append(player != nil)
      context.unbind((any MusicPlayer).self)
    }
    #expect(found == [true, false])
    withExtendedLifetime(player) {}
  }

  #if hasFeature(InferSendableFromCaptures)
    @Test func aSendableService() throws {
      context.register(using: Mailer.init(log:))
      #expect(throws: UDILinkError.self) { try context.require(Mailer.self) }
      context.provide(NoLog(), as: (any Log).self)
      #expect(try context.require(Mailer.self).log is NoLog)
    }
  #endif

  @Test func aSendableObject() {
    let courier = Courier().attached(to: context)
    #expect(courier.log == nil)
    context.provide(NoLog(), as: (any Log).self)
    #expect(courier.log is NoLog)
  }

  @Test func plugIns() {
    let text = "A text"
    context.provide(Spelling(), as: (any Checker).self, named: "spelling")
    context.provide(Grammar(), as: (any Checker).self, named: "grammar")
    let faults = context.linkAll((any Checker).self).flatMap { $0.faults(in: text) }
    #expect(faults == ["a misspelt word", "a missing verb"])
  }

  @Test func pluginsThatWait() async throws {
    let context = context
    context.provide(Spelling(), as: (any Checker).self, named: "spelling")
    context.register((any Checker).self, named: "grammar") { () async in Grammar() }
    let checkers = try await context.obtainAll((any Checker).self)
    #expect(checkers.flatMap { $0.faults(in: "") } == ["a misspelt word", "a missing verb"])
  }

  @Test func plugInsThatComeAndGo() async {
    let context = context
    context.provide(Spelling(), as: (any Checker).self)
    let (menus, continuation) = AsyncStream.makeStream(of: [String].self)
    let show: @Sendable ([String]) -> Void = { continuation.yield($0) }
    let following = Task {
      for await checkers in context.updates(ofAll: (any Checker).self) {
        show(checkers.map { "\($0.name ?? "unnamed")" })
      }
    }
    var shown = menus.makeAsyncIterator()
    #expect(await shown.next() == ["unnamed"])
    var thesaurus: Thesaurus? = Thesaurus().attached(to: context)
    #expect(await shown.next() == ["unnamed", "thesaurus"])
    #expect(thesaurus?.faults(in: "A text") == ["a better word"])
    thesaurus = nil
    #expect(await shown.next() == ["unnamed"])
    following.cancel()
    await following.value
  }

  @Test func wordsFromElsewhere() async throws {
    context.register(Token.self) { Token() }
    context.register((any Store).self, lifetime: .scope) { CountingStore(base: DiskStore()) }
    context.register((any Store).self, lifetime: .scope, replaces: false) { DiskStore() }
    context.register(Flags.self, lifetime: .unique) { Flags(storesOnDisk: true) }
    // A singleton that is made of a scoped service.
    context.register { context in
      let store = try context.require((any Store).self)
      return Editor(printer: { store.notes.isEmpty ? nil : Laser() })
    }
    let request = try context.makeScope(tag: "request")
    let store = try #require(request.link((any Store).self) as? CountingStore)
    let error = #expect(throws: UDILinkError.self) { try request.require(Editor.self) }
    #expect(error?.cause == .noScope(kind: nil, present: []))
    let (part, inner) = (try request.makeChild(tag: "part"), try request.makeScope(tag: "inner"))
    #expect(part.link((any Store).self) as? CountingStore === store)
    #expect(inner.link((any Store).self) as? CountingStore !== store)
    #expect(part.link(Token.self) === inner.link(Token.self) && part.link(Flags.self) != nil)
    try await request.close()
  }

  @Test(.ownAppContext) func liveValues() throws {
    AppContext.install(Services(mode: .live))
    #expect(try AppContext.require((any Store).self) is DiskStore)
    AppContext.provide(MemoryStore(notes: []), as: (any Store).self, replaces: true)
    AppContext.install(Services(mode: .live))
    #expect(try AppContext.require((any Store).self) is MemoryStore)
  }

  @Test func previewValues() throws {
    context.install(Services(mode: .preview))
    #expect(try context.require((any Store).self).notes == ["A note"])
  }

  @Test func featureFlag() {
    context.register((any Store).self, lifetime: .unique) { context in
      if try context.require(Flags.self).storesOnDisk { return DiskStore() }
      return MemoryStore(notes: [])
    }
    context.provide(Flags(storesOnDisk: false))
    #expect(context.link((any Store).self) is MemoryStore)
    context.provide(Flags(storesOnDisk: true), replaces: true)
    #expect(context.link((any Store).self) is DiskStore)
  }

  @Test(.ownAppContext { $0.provide(ImpatientClock(), as: (any Clock<Duration>).self) })
  func reminds() async throws {
    #expect(try await Reminder().attached(to: AppContext).remind() == "An hour has passed.")
  }

  @Test(.leakAudit) func lookedUpLater() throws {
    let context = try AppContext.makeChild(tag: "Editors")
    context.register { context in
      Editor(printer: { [weak context] in context?.link((any Printer).self) })
    }
    let editor = try context.require(Editor.self)
    #expect(editor.printer() == nil)
    context.provide(Laser(), as: (any Printer).self)
    #expect(editor.printer() is Laser)
    AppContext.removeChild(context)
  }

  @Test func decorator() throws {
    context.register((any Store).self, named: "plain") { DiskStore() }
    context.register((any Store).self) { context in
      try CountingStore(base: context.require((any Store).self, named: "plain"))
    }
    let store = try context.require((any Store).self)
    #expect(store.notes == ["on disk"] && (store as? CountingStore)?.reads.withLock { $0 } == 1)
  }

  @Test func decoratorInABranch() throws {
    context.register((any Store).self) { DiskStore() }.implements((any Store).self, named: "plain")
    let trial = try context.makeScope(tag: "trial")
    trial.register((any Store).self) { context in
      try CountingStore(base: context.require((any Store).self, named: "plain"))
    }
    #expect((try trial.require((any Store).self) as? CountingStore)?.base is DiskStore)
    #expect(context.link((any Store).self) is DiskStore)
  }

  @Test func decoratorInABranchWhateverTheLifetime() throws {
    for lifetime in [UDILifetime.context, .unique, .graph, .weak, .scope] {
      let context = UDIContext(tag: "App")
      context.register((any Store).self, lifetime: lifetime) {
        CountingStore(base: DiskStore())
      }.implements((any Store).self, named: "plain")
      let trial = try context.makeScope(tag: "trial")
      trial.register((any Store).self) { context in
        try CountingStore(base: context.require((any Store).self, named: "plain"))
      }
      let store = try trial.require((any Store).self) as? CountingStore
      #expect((store?.base as? CountingStore)?.base is DiskStore && store?.notes == ["on disk"])
    }
  }

  @Test func resettingOne() throws {
    context.register(lifetime: .login) { Token() }
    context.register { VendorPlayer() }
    let (token, player) = try (context.require(Token.self), context.require(VendorPlayer.self))
    context.reset(.login)
    #expect(try context.require(Token.self) !== token && context.require(VendorPlayer.self) === player)
  }

  @MainActor @Test func twoWays() throws {
    context.register {
      Document()
    }.onCreate { context, document in
      document.undo = context.link(UndoStack.self)
    }
    context.register {
      UndoStack()
    }.onCreate { context, undo in
      undo.document = context.link(Document.self)
    }
    let document = try context.require(Document.self)
    #expect(document.undo?.document === document)
  }
}
