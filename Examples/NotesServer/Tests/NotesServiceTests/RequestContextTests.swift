import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import UDI
import UDIInspector
import UDITesting

@testable import NotesService

private struct Broken: Error {}

/// What belongs to a request is in a context of its own, and goes with it.
@Suite(.timeLimit(.minutes(10))) struct RequestContextTests {
  @Test func aRequestFindsWhatItNeeds() async throws {
    let root = makeRoot()
    let sample = try root.makeScope(tag: "sample")
    sample.provide(RequestIdentity(id: "sample"))
    sample.provide(logger())
    // So far, nothing has been made: neither the database nor the store has been opened.
    let unmet = root.unmetNeeds()
    #expect(unmet.failures.isEmpty, "\(unmet)")
    expectNeedsAreMet(by: NotesHandler.self, HealthHandler.self, in: sample)
    await expectEverythingIsMade(in: root)
    try await root.close()
  }

  @Test func whatARequestLacksIsFoundBeforeItComes() throws {
    let root = makeRoot()
    try root.makeScope(tag: "sample").provide(RequestIdentity(id: "sample"))
    let unmet = root.unmetNeeds()
    #expect(unmet.failures.map(\.typeName) == ["NotesService.UnitOfWork"])
    #expect(unmet.description.contains("No Logging.Logger is registered"))
  }

  @Test func eachRequestHasItsOwnUnitOfWork() async throws {
    let gate = Gate()
    let store = FakeStore([.sample(1)]) { try await gate.pass() }
    let root = makeRoot()
    root.provide(store, as: (any NoteStore).self, replaces: true)

    try await withService(in: root) { client in
      async let read = client.get("/notes/1", headers: [.requestID: "reader"])
      async let written = client.send(#"{"title": "Tea"}"#, .put, "/notes/1", headers: [.requestID: "writer"])
      await gate.waitForArrivals(2)

      #expect(Set(root.children.map(\.tag)) == ["reader", "writer"])
      let reader = try #require(root.child(tag: "reader")?.link(UnitOfWork.self))
      let writer = try #require(root.child(tag: "writer")?.link(UnitOfWork.self))
      #expect(reader !== writer)
      #expect(reader.request.id == "reader")
      #expect(reader.tally == UnitOfWork.Tally(reads: 1, writes: 0))
      #expect(writer.request.id == "writer")
      #expect(writer.tally == UnitOfWork.Tally(reads: 0, writes: 1))

      await gate.open()
      #expect(try await read.status == .ok)
      #expect(try await written.status == .ok)
    }
    #expect(root.children.isEmpty)
  }

  @Test func requestsMayHaveTheSameID() async throws {
    let gate = Gate()
    let store = FakeStore([.sample(1)]) { try await gate.pass() }
    let root = makeRoot()
    root.provide(store, as: (any NoteStore).self, replaces: true)

    try await withService(in: root) { client in
      try await withThrowingTaskGroup(of: TestResponse.self) { group in
        for _ in 0..<3 { group.addTask { try await client.get("/notes/1", headers: [.requestID: "twin"]) } }
        await gate.waitForArrivals(3)
        #expect(root.children.count == 3)
        #expect(root.children.compactMap { $0.link(RequestIdentity.self)?.id } == ["twin", "twin", "twin"])
        await gate.open()
        for try await response in group {
          #expect(response.status == .ok)
          #expect(response.headers[.requestID] == "twin")
        }
      }
    }
    #expect(root.children.isEmpty)
  }

  @Test func theApplicationDoesNotSeeIntoRequests() async throws {
    let gate = Gate()
    let store = FakeStore([.sample(1)]) { try await gate.pass() }
    let root = makeRoot()
    root.provide(store, as: (any NoteStore).self, replaces: true)

    try await withService(in: root) { client in
      async let response = client.get("/notes/1")
      await gate.waitForArrivals(1)
      #expect(root.link(RequestIdentity.self) == nil)
      let error = #expect(throws: UDILinkError.self) { try root.require(UnitOfWork.self) }
      #expect(error?.cause == .noScope(kind: nil, present: []))
      await gate.open()
      let status = try await response.status
      #expect(status == .ok)
    }
  }

  /// Requests that are answered, that find nothing, that are refused, and that are cancelled while they wait.
  ///
  /// The client opens at most eight connections to one server, and each request that waits needs one.
  @Test(arguments: [(TestingSetup.router, 16), (.ahc(), 2)])
  func nothingOfARequestSurvives(_ setup: TestingSetup, _ count: Int) async throws {
    let gate = Gate()
    let store = FakeStore([.sample(1)]) { try await gate.pass() }
    let survivors = Survivors()
    let root = makeRoot()
    root.provide(store, as: (any NoteStore).self, replaces: true)
    let wiring = WatchingWiring(base: UDIWiring(root: root), survivors: survivors)
    let application = makeApplication(NotesConfiguration(), wiring: wiring, logger: logger())

    try await application.test(setup) { client in
      func get(_ path: String) -> [Task<HTTPResponse.Status, any Error>] {
        (0..<count).map { _ in Task { try await client.get(path).status } }
      }
      let answered = get("/notes/1")
      let missed = get("/notes/2")
      let cancelled = get("/notes/1")
      await gate.waitForArrivals(3 * count)
      let refused = try await values(of: get("/notes/x"))
      #expect(refused == Array(repeating: .badRequest, count: count))
      #expect(root.children.count == 3 * count)
      #expect(survivors.watched == 3 * 4 * count)

      for task in cancelled { task.cancel() }
      for task in cancelled { _ = await task.result }
      await gate.open()
      let done = try await values(of: answered + missed)
      #expect(done == Array(repeating: .ok, count: count) + Array(repeating: .notFound, count: count))
    }
    // The server has stopped, so it has also finished with the requests that its clients cancelled.
    #expect(root.children.isEmpty)
    #expect(survivors.watched == 3 * 4 * count)
    #expect(survivors.alive == 0)
  }

  @Test func nothingOfAFailedRequestSurvives() async throws {
    let store = FakeStore { throw Broken() }
    let survivors = Survivors()
    let root = makeRoot()
    root.provide(store, as: (any NoteStore).self, replaces: true)
    let wiring = WatchingWiring(base: UDIWiring(root: root), survivors: survivors)
    let application = makeApplication(NotesConfiguration(), wiring: wiring, logger: logger())

    try await application.test(.router) { client in
      await withTaskGroup(of: HTTPResponse.Status?.self) { group in
        for _ in 0..<16 { group.addTask { try? await client.get("/notes/1").status } }
        for await status in group { #expect(status == .internalServerError) }
      }
    }
    #expect(root.children.isEmpty)
    #expect(survivors.watched == 48)
    #expect(survivors.alive == 0)
  }
}

private func values<Value: Sendable>(of tasks: [Task<Value, any Error>]) async throws -> [Value] {
  var values: [Value] = []
  for task in tasks { values.append(try await task.value) }
  return values
}
