import HTTPTypes
import HummingbirdTesting
import InMemoryLogging
import Logging
import Testing

@testable import NotesService

@Suite struct RequestIdentityTests {
  @Test(arguments: ["a", "0", "A-b_c.9", String(repeating: "x", count: 64)])
  func aSaneIDIsTaken(_ id: String) async throws {
    try await withService(wiring: .udi) { client in
      let response = try await client.get("/health", headers: [.requestID: id])
      #expect(response.headers[.requestID] == id)
    }
  }

  @Test(arguments: ["", "a b", "a/b", "a\tb", "é", "<script>", String(repeating: "x", count: 65)])
  func anyOtherIsReplaced(_ id: String) async throws {
    try await withService(wiring: .udi) { client in
      let given = try await client.get("/health", headers: [.requestID: id]).headers[.requestID]
      #expect(given?.isEmpty == false)
      #expect(given != id)
    }
  }

  @Test func everyRequestGetsOne() async throws {
    try await withService(wiring: .udi) { client in
      var ids: Set<String?> = []
      for path in ["/health", "/notes", "/nowhere", "/notes/x"] {
        ids.insert(try await client.get(path).headers[.requestID])
      }
      #expect(ids.count == 4)
      #expect(!ids.contains(nil))
    }
  }

  @Test func theLogOfARequestHasIt() async throws {
    var log = InMemoryLogHandler()
    log.logLevel = .debug
    let root = makeRoot()
    let entries = try await withService(in: root, log: log) { [log] client in
      log.clear()
      _ = try await client.get("/notes", headers: [.requestID: "logged"])
      return log.entries
    }
    #expect(entries.map { "\($0.message)" } == ["Uses the store", "GET /notes"])
    #expect(entries.allSatisfy { $0.metadata["hb.request.id"] == "logged" })
  }
}
