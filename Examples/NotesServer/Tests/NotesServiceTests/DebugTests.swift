import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import UDI

@testable import NotesService

/// The page that shows the tree, and its requests to the server.
@Suite(.timeLimit(.minutes(10))) struct DebugTests {
  /// What the page reads.
  private struct View: Decodable {
    struct Counts: Decodable { let contexts, bindings, providers: Int }
    let counts: Counts
    let contexts: [UDISnapshot.Context]
    let omitted: Int
    let keys: [String]
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
      let during: View = try await client.get("/debug/contexts.json").json()
      #expect(during.counts.contexts == 2 && during.contexts.map(\.tag) == ["Test", "mine"] && during.omitted == 0)
      #expect(during.contexts[0].bindings.first?.className == "FakeStore")
      #expect(during.contexts[0].bindings.first?.fileID == #fileID)
      #expect(during.contexts[1].providers.contains { $0.typeName.hasSuffix("UnitOfWork") && $0.isMade })
      await gate.open()
      _ = try await response
      let after: View = try await client.get("/debug/contexts.json").json()
      #expect(after.counts.contexts == 1)
    }
  }

  @Test func explainsLookups() async throws {
    try await withDebugging(FakeStore()) { client in
      let stored: [String: String] = try await client.get("/debug/explain?key=NoteStore&path=").json()
      #expect(
        stored["explanation"]?.hasPrefix("NotesService.NoteStore is there: the FakeStore bound in \"Test\"") == true)
      let missing: [String: String] = try await client.get("/debug/explain?key=UnitOfWork").json()
      #expect(missing["explanation"]?.hasPrefix("No NotesService.UnitOfWork is registered in this tree.") == true)
      for bad in ["key=Nothing", "", "key=NoteStore&path=/gone%2Fby%20now"] {
        let response = try await client.get("/debug/explain?\(bad)")
        #expect(response.status == .badRequest)
      }
    }
  }

  @Test func loadsNothingFromElsewhere() async throws {
    try await withDebugging(FakeStore()) { client in
      for (path, type) in [("", "text/html"), (".css", "text/css"), (".js", "text/javascript")] {
        let response = try await client.get("/debug/contexts\(path)")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType]?.hasPrefix(type) == true)
        #expect(response.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
        #expect(!String(buffer: response.body).replacing("http://www.w3.org/2000/svg", with: "").contains("://"))
      }
    }
  }

  @Test func isOffUnlessAskedFor() async throws {
    try await withService(in: makeRoot()) { client in
      for path in ["/debug/contexts", "/debug/contexts.json", "/debug/explain?key=NoteStore"] {
        let response = try await client.get(path)
        #expect(response.status == .notFound)
      }
    }
  }
}
