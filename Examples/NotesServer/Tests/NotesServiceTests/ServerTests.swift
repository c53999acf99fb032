import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Testing
import UDI

@testable import NotesService

/// The service on a real socket.
@Suite(.timeLimit(.minutes(10))) struct ServerTests {
  @Test func servesManyAtOnce() async throws {
    let root = makeRoot()
    try await withService(.ahc(), in: root) { client in
      let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
        for number in 0..<64 {
          group.addTask {
            let id = "request-\(number)"
            let made = try await client.send(#"{"title": "\#(id)"}"#, .post, "/notes", headers: [.requestID: id])
            #expect(made.status == .created)
            #expect(made.headers[.requestID] == id)
            let note = try made.json(Note.self)
            #expect(note.title == id)
            #expect(try await client.get("/notes/\(note.id)").json() == note)
            return note.id
          }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(ids == Set(1...64))
    }
  }

  @Test func answersWhatIsNoHTTP() async throws {
    try await withService(.live, in: makeRoot()) { client in
      let port = try #require(client.port)
      let answer = try await exchange(
        "POST /notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        port: port)
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
      #expect(try await client.get("/health").status == .ok)
    }
  }

  @Test func finishesWhatItHasBegunWhenItIsToStop() async throws {
    let gate = Gate()
    let store = FakeStore { try await gate.pass() }
    let root = makeRoot()
    root.provide(store, as: (any NoteStore).self, replaces: true).onClose { store in try await store.close() }
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    let application = makeApplication(
      NotesConfiguration(port: 0), wiring: UDIWiring(root: root), logger: logger()
    ) { port in listening.yield(port) }
    let server = TestServer {
      try await application.run()
      #expect(store.closings == 0)
      #expect(root.children.map(\.tag) == ["Server"])
    }
    let services = ServiceGroup(
      services: [TreeService(root: root, server: server, logger: logger())], logger: logger())

    async let running: Void = services.run()
    let port = try #require(await ports.first { _ in true })
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/notes")
    request.method = .POST
    request.headers = ["Content-Type": "application/json"]
    request.body = .bytes(ByteBuffer(string: #"{"title": "Tea"}"#))
    async let response = HTTPClient.shared.execute(request, timeout: .seconds(30))

    await gate.waitForArrivals(1)
    await services.triggerGracefulShutdown()
    #expect(store.closings == 0)
    await gate.open()
    #expect(try await response.status == .created)
    try await running
    #expect(store.closings == 1)
  }
}

/// Sends some bytes, and returns what comes back until the other side closes the connection.
private func exchange(_ bytes: String, port: Int) async throws -> String {
  var answer = ""
  try await withConnection(port: port) { inbound, outbound in
    try await outbound.write(ByteBuffer(string: bytes))
    answer = try await readToEnd(inbound)
  }
  return answer
}
