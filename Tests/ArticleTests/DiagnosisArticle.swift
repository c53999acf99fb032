public import Foundation
import Testing
public import UDI
import UDIInspector
import UDITesting

// The code in "Seeing what happens" and in README: `.ci/articles` compares it with them.

// As in the article, but without `@retroactive`, which is in Tests/Refused/Retroactive.swift.
extension UDILinkError: LocalizedError {
  /// The whole description.
  public var errorDescription: String? { description }
}

@Suite(.ownAppContext) struct DiagnosisArticle {
  protocol Cart: AnyObject, Sendable {}
  protocol Player: AnyObject, Sendable { var title: String { get } }
  protocol Store: AnyObject, Sendable { func follow(_ player: any Player) async }
  protocol Clock: Sendable {}
  struct SystemClock: Clock {}
  final class Database: Store {
    init(path: String, clock: any Clock) {}
    func follow(_ player: any Player) async {}
  }
  final class Screen: UDIObject {
    let _attachedContext = UDIAttachment()
    func didAttachContext() {}
  }

  @Test func pictures() throws {
    let screen = Screen().attached(to: AppContext)
    print(screen.explain((any Cart).self))
    print(AppContext.snapshot())  // a text tree
    print(AppContext.snapshot().mermaid(depth: 3))  // a diagram
    let json = try JSONEncoder().encode(AppContext.snapshot())
    #expect(!json.isEmpty)
  }

  @Test func whoNeedsIt() {
    let screen = Screen().attached(to: AppContext)
    AppContext.register((any Store).self) { context in
      Database(path: "", clock: try context.require((any Clock).self))
    }
    let error = #expect(throws: UDILinkError.self) {
      let store = try screen.require((any Store).self)
      withExtendedLifetime(store) {}
    }
    let lines = error?.description.split(separator: "\n") ?? []
    #expect(error?.chain.map(\.isProvider) == [false, true, false])
    #expect(lines[0].contains("Clock is registered in this tree. ") && lines[1].contains(" → "))
  }

  @Test func localizedDescription() throws {
    let error = try #require(throws: UDILinkError.self) { try AppContext.require((any Cart).self) }
    let erased: any Error = error
    #expect(erased.localizedDescription == error.description && error.localizedDescription == error.description)
  }

  @Test func recording() async {
    // In a process of its own, because the switch affects the whole process.
    await #expect(processExitsWith: .success) {
      UDIRecording.isOn = false
      #expect(
        AppContext.explain((any Cart).self).description.contains(
          "Cart is registered in this tree now. If one was there and has died, that was not recorded: set"))
      UDIRecording.isOn = true
      #expect(AppContext.explain((any Cart).self).wasRecording)
    }
  }

  @Test func changes() async throws {
    let context = AppContext
    context.register((any Store).self) { Database(path: "", clock: SystemClock()) }
    _ = context.link((any Store).self)
    let follower = Task {
      var title = ""
      for await player in context.updates(of: (any Player).self) {
        title = player?.title ?? "nothing plays"
      }
      let store = try await context.linkWhenAvailable((any Store).self)
      return (title, store)
    }
    follower.cancel()
    let (title, store) = try await follower.value
    #expect(["", "nothing plays"].contains(title) && store === context.link((any Store).self))
  }

  @Test func changesOfAll() async {
    let (context, given) = (AppContext, AsyncStream.makeStream(of: [String].self))
    let follower = Task {
      var titles: [String] = [] { didSet { given.continuation.yield(titles) } }
      for await players in context.updates(ofAll: (any Player).self) {
        titles = players.map { "\($0.name ?? "unnamed"): \($0.dependency.title)" }
      }
    }
    var elements = given.stream.makeAsyncIterator()
    #expect(await elements.next() == [])
    follower.cancel()
    await follower.value
  }

  @Test func whileAllAreThere() async throws {
    let context = AppContext
    let task = Task {
      try await context.whileAvailable((any Player).self, (any Store).self) { player, store in
        await store.follow(player)
      }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func observer() async {
    // In a process of its own, because the observer is that of the whole process.
    await #expect(processExitsWith: .success) {
      @Sendable func log(_ text: String) { precondition(text.hasSuffix("Cart is missing")) }
      UDIObserver.process = UDIObserver { event in
        if case .missed(let miss) = event { log("\(miss.typeName) is missing") }
      }
      _ = AppContext.link((any Cart).self)
    }
  }

  @Test func providers() {
    AppContext.provide(SystemClock(), as: (any Clock).self)
    AppContext.register((any Store).self) { context in
      try Database(path: "notes.db", clock: context.require((any Clock).self))
    }
    let store = AppContext.link((any Store).self)  // made now, and owned by AppContext
    #expect(store != nil)
  }
}
