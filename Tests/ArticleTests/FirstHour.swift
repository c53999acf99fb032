import Synchronization
import Testing
import UDI
import UDITesting

// The code in "The first hour": `.ci/articles` compares it with the article.

/// What the code has printed.
nonisolated private let printed = Mutex<[String]>([])
nonisolated private func print(_ value: Any) {
  let line = "\(value)"
  printed.withLock { $0.append(line) }
}
private func take() -> [String] {
  printed.withLock { lines in
    defer { lines = [] }
    return lines
  }
}

@MainActor @Suite(.ownAppContext, .serialized) struct FirstHourTests {
  protocol Store: Sendable { func count(for user: String) -> Int }

  struct Settings: Sendable { let notes: [String: Int] }

  struct DiskStore: Store {
    let settings: Settings
    func count(for user: String) -> Int { settings.notes[user] ?? 0 }
  }

  final class NotesScreen: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Required var store: any Store
    func title(for user: String) -> String { "\(store.count(for: user)) notes" }
  }

  final class Session: UDIObject, Sendable {
    let _attachedContext = UDIAttachment()
    let user: String
    init(user: String) { self.user = user }
    func didAttachContext() { bind(self, as: Session.self) }
  }

  final class Toolbar: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Followed var session: Session?
    var title: String { session?.user ?? "Log in" }
  }

  final class Draft: Sendable {
    let store: any Store
    init(store: any Store) { self.store = store }
    func save() async { print("saved") }
  }

  struct FakeStore: Store {
    func count(for user: String) -> Int { 1 }
  }

  @Test func services() async throws {
    AppContext.provide(Settings(notes: ["Ann": 3]))
    AppContext.register((any Store).self, using: DiskStore.init(settings:))
    try await AppContext.warmUp()
    print(try AppContext.require((any Store).self).count(for: "Ann"))  // 3
    let screen = NotesScreen().attached(to: AppContext)
    print(screen.title(for: "Ann"))  // 3 notes
    #expect(take() == ["3", "3 notes"])
    AppContext.register(lifetime: .scope, using: Draft.init(store:)).onClose { await $0.save() }
    let window = try AppContext.makeScope(tag: "window")
    _ = try window.require(Draft.self)
    try await window.close()  // saved
    #expect(take() == ["saved"])
    try await AppContext.withScope(tag: "request") { scope in
      _ = try scope.require(Draft.self)
    }  // saved
    #expect(take() == ["saved"])
  }

  @Test func comingAndGoing() {
    let toolbar = Toolbar().attached(to: AppContext)
    var session: Session? = Session(user: "Ann").attached(to: AppContext)
    print(toolbar.title)  // Ann
    print(session === AppContext.link(Session.self))  // true
    session = nil
    print(toolbar.title)  // Log in
    #expect(take() == ["Ann", "true", "Log in"])
    print(toolbar.explain(Session.self))
    #expect(take().first?.isEmpty == false)
  }

  @Test(.leakAudit) func notesAreCounted() {
    AppContext.provide(FakeStore(), as: (any Store).self)
    expectNeedsAreMet(by: NotesScreen.self, in: AppContext)
    #expect(NotesScreen().attached(to: AppContext).title(for: "Ann") == "1 notes")
  }
}
