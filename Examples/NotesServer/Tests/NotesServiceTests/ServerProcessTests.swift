import AsyncHTTPClient
import Foundation
import GRDB
import NIOCore
import NIOHTTP1
import Testing

@testable import NotesService

/// A server in a process of its own, from its start to its end.
@Suite(.timeLimit(.minutes(10))) struct ServerProcessTests {
  @Test(arguments: WiringUnderTest.allCases)
  func answersWhatItHasAcceptedWhenItIsToStop(_ wiring: WiringUnderTest) async throws {
    try await withTemporaryFolder { folder in
      let database = folder.appending(path: "notes.db").path
      let server = try ServerProcess(
        ["--database", database, "--log-level", "debug", "--wiring", wiring.rawValue])
      let port = try await server.port()
      let gate = Gate()
      await gate.open()
      async let answers = load(port: port, clients: 32) { try await gate.pass() }
      await gate.waitForArrivals(500)
      server.terminate()
      let status = await server.end()
      #expect(status == 0)

      // Each request that the server began to handle got its whole answer.
      let answered = try await answers
      let accepted = server.output.compactMap { $0.firstMatch(of: /hb\.request\.id=(load-[0-9-]+)/)?.output.1 }
      #expect(Set(accepted) == Set(answered.keys.map { $0[...] }))
      #expect(Set(answered.values) == [.ok, .created])
      #expect(answered.count >= 500)
      try await expect(answered.values.count { $0 == .created }, in: database)
    }
  }

  @Test func theLogShowsTheOrder() async throws {
    try await withTemporaryFolder { folder in
      let database = folder.appending(path: "notes.db").path
      let server = try ServerProcess(["--database", database, "--debug"])
      let port = try await server.port()
      try await withConnection(port: port) { inbound, outbound in
        // The request is in the middle of its body when the server is told to stop.
        try await outbound.write(
          ByteBuffer(
            string: """
              POST /notes HTTP/1.1\r\nHost: x\r\nX-Request-Id: half-sent\r\nContent-Type: application/json\r\n\
              Content-Length: 16\r\n\r\n{"title
              """))
        while try await !get("/debug/contexts?data.json", port: port).contains("half-sent") {}
        server.terminate()
        try await server.read(to: "Draining")
        try await outbound.write(ByteBuffer(string: #"": "Tea"}"#))
        #expect(try await readToEnd(inbound).hasPrefix("HTTP/1.1 201 "))
      }
      let status = await server.end()
      #expect(status == 0)
      #expect(
        server.steps == [
          "Opened the database", "Opened the store", "Warmed up", "Accepting requests", "Stopping", "Draining",
          "Closed the store", "Closed the database", "Closed",
        ])
      try await expect(1, in: database)
    }
  }

  @Test(arguments: ["Opened the database", "Opened the store", "Warmed up", "Accepting requests"])
  func stopsAtAnyStepOfTheStart(_ step: String) async throws {
    let server = try ServerProcess([])
    try await server.read(to: step)
    server.terminate()
    let status = await server.end()
    #expect(status == 0)
    let opened = server.steps.filter { $0.hasPrefix("Opened") }
    #expect(server.steps.suffix(opened.count + 1) == opened.reversed().map { "Closed" + $0.dropFirst(6) } + ["Closed"])
    #expect(server.steps.contains("Stopping"))
  }

  @Test func finishesAMigrationThatHasBegunWhenItIsToStop() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.appending(path: "notes.db").path
      // Another process writes to the database, so the migration waits.
      var settings = Configuration()
      settings.allowsUnsafeTransactions = true
      let other = try DatabasePool(path: path, configuration: settings)
      try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
      let server = try ServerProcess(["--database", path])
      try await server.read(to: "Opened the database")
      server.terminate()
      try await server.read(to: "Stopping")
      try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
      let status = await server.end()
      #expect(status == 0)
      #expect(
        server.steps == [
          "Opened the database", "Stopping", "Opened the store", "Closed the store", "Closed the database", "Closed",
        ])
      try other.close()
      try await expect(0, in: path)
    }
  }

  @Test func aStartThatFailsSaysEverythingThatIsWrong() async throws {
    let server = try ServerProcess([
      "--database", "/no such folder/notes.db", "--limits", "/no such folder/limits.json",
    ])
    let status = await server.end()
    #expect(status == 1)
    #expect(server.output.count { $0.hasPrefix("Error: ") } == 1)
    let text = server.output.joined(separator: "\n")
    #expect(text.contains("NoteLimits") && text.contains("limits.json"))
    #expect(text.contains("DatabaseWriter") && text.contains("notes.db"))
    #expect(server.steps == ["Closed"])
  }

  @Test func aStartThatFailsClosesWhatWasMade() async throws {
    try await withTemporaryFolder { folder in
      let database = folder.appending(path: "notes.db").path
      let server = try ServerProcess(["--database", database, "--limits", "/no such folder/limits.json"])
      let status = await server.end()
      #expect(status == 1)
      #expect(
        server.steps == [
          "Opened the database", "Opened the store", "Closed the store", "Closed the database", "Closed",
        ])
      try await expect(0, in: database)
    }
  }
}

/// Lets clients send requests, one after the other, until the server answers no more.
///
/// - Parameters:
///   - port: The port of the server.
///   - clients: The number of clients.
///   - onAnswer: Called after each answer.
/// - Returns: The status of each answer that was complete, by the id of the request.
private func load(
  port: Int, clients: Int, onAnswer: @escaping @Sendable () async throws -> Void
) async throws -> [String: HTTPResponseStatus] {
  var configuration = HTTPClient.Configuration()
  configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = clients
  configuration.connectionPool.retryConnectionEstablishment = false
  return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
    await withTaskGroup(of: [String: HTTPResponseStatus].self) { group in
      for client in 1...clients {
        group.addTask {
          var answers: [String: HTTPResponseStatus] = [:]
          for number in 1... {
            let id = "load-\(client)-\(number)"
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/notes")
            request.headers = ["X-Request-Id": id]
            if number.isMultiple(of: 2) {
              request.method = .POST
              request.headers.add(name: "Content-Type", value: "application/json")
              request.body = .bytes(ByteBuffer(string: #"{"title": "Tea"}"#))
            }
            do {
              let response = try await http.execute(request, timeout: .seconds(60))
              _ = try await response.body.collect(upTo: 1_000_000)
              answers[id] = response.status
              try await onAnswer()
            } catch { break }
          }
          return answers
        }
      }
      return await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
  }
}

private func get(_ path: String, port: Int) async throws -> String {
  let response = try await HTTPClient.shared.execute(
    HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)"), timeout: .seconds(30))
  return String(buffer: try await response.body.collect(upTo: 1_000_000))
}

/// Expects a number of notes in a database.
private func expect(_ count: Int, in path: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
  let database = try openDatabase(.file(path: path))
  let store = try await SQLiteNoteStore.open(database: database, clock: SystemClock())
  let notes = try await store.notes(after: 0, limit: .max)
  #expect(notes.count == count, sourceLocation: sourceLocation)
  try database.close()
}
