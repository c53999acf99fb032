import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import UDI

@testable import NotesService

/// The page that shows the tree, and its requests to the server.
@Suite(.timeLimit(.minutes(10))) struct DebugTests {
  /// The part of what the page reads that these tests look at.
  private struct Data: Decodable {
    struct Context: Decodable { let tag: String }
    struct Tree: Decodable {
      let contexts: [Context]
      let texts: [String]
    }
    let tree: Tree
  }

  private func withDebugging(
    _ store: FakeStore, _ test: @escaping @Sendable (any TestClientProtocol) async throws -> Void
  ) async throws {
    let root = makeRoot()
    root.bind(store, as: (any NoteStore).self)
    let application = makeApplication(
      NotesConfiguration(), wiring: UDIWiring(root: root), debugging: root, logger: logger())
    try await application.test(.router) { client in try await test(client) }
  }

  @Test func showsRequestsUnderWay() async throws {
    let gate = Gate()
    try await withDebugging(FakeStore([.sample(1)]) { try await gate.pass() }) { client in
      async let response = client.get("/notes/1", headers: [.requestID: "mine"])
      await gate.waitForArrivals(1)
      let during: Data = try await client.get("/debug/contexts?data.json").json()
      #expect(during.tree.contexts.map(\.tag) == ["Test", "mine"])
      #expect(during.tree.texts.contains("FakeStore") && during.tree.texts.contains("NotesService.UnitOfWork"))
      await gate.open()
      _ = try await response
      let after: Data = try await client.get("/debug/contexts?data.json").json()
      #expect(after.tree.contexts.map(\.tag) == ["Test"])
    }
  }

  @Test func servesThePage() async throws {
    try await withDebugging(FakeStore()) { client in
      for (path, type) in [
        ("", "text/html"), ("/", "text/html"), ("?style.css", "text/css"), ("?script.js", "text/javascript"),
        ("?way.json&type=NotesService.NoteStore", "application/json"),
      ] {
        let response = try await client.get("/debug/contexts\(path)")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "\(type); charset=utf-8")
      }
      #expect(try await client.get("/debug/contexts?nothing").status == .notFound)
    }
  }

  @Test func isOffUnlessAskedFor() async throws {
    try await withService(in: makeRoot()) { client in
      for path in ["/debug/contexts", "/debug/contexts?data.json"] {
        let response = try await client.get(path)
        #expect(response.status == .notFound)
      }
    }
  }
}
