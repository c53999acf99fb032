import Foundation
import HTTPTypes
import HummingbirdTesting
import InMemoryLogging
import Logging
import NIOCore
import Testing
import UDI

@testable import NotesService

private struct Broken: Error {}

/// What a test puts into its root replaces what the application would use.
@Suite struct ReplacedPartsTests {
  @Test func theClockIsRegisteredAnew() async throws {
    let clock = FixedClock()
    let root = makeRoot()
    root.register((any WallClock).self, replaces: true) { clock }

    try await withService(in: root) { client in
      try await client.send(#"{"title": "Tea"}"#, .post, "/notes")
      clock.advance(seconds: 90)
      let note = try await client.send(#"{"title": "Coffee"}"#, .put, "/notes/1").json(Note.self)
      #expect(note.createdAt == Date(timeIntervalSince1970: 1_000_000_000))
      #expect(note.updatedAt == Date(timeIntervalSince1970: 1_000_000_090))
    }
  }

  @Test func theStoreIsProvided() async throws {
    let root = makeRoot()
    root.provide(FakeStore([.sample(7)]), as: (any NoteStore).self, replaces: true)

    try await withService(in: root) { client in
      let kept = try await client.get("/notes/7")
      #expect(try kept.json() == Note.sample(7))
      let missing = try await client.get("/notes/1")
      #expect(missing.status == .notFound)
    }
  }

  @Test func theLimitsAreRegisteredAnew() async throws {
    let root = makeRoot()
    root.register(NoteLimits.self, replaces: true) {
      var limits = NoteLimits()
      limits.titleLength = 3
      return limits
    }

    try await withService(in: root) { client in
      let short = try await client.send(#"{"title": "Tea"}"#, .post, "/notes")
      #expect(short.status == .created)
      let long = try await client.send(#"{"title": "Teas"}"#, .post, "/notes")
      #expect(long.errorCode == "invalid_note")
    }
  }

  @Test func whatFailsInsideIsLoggedAndNotTold() async throws {
    let store = FakeStore { throw Broken() }
    let root = makeRoot()
    root.provide(store, as: (any NoteStore).self, replaces: true)
    let log = InMemoryLogHandler()

    try await withService(in: root, log: log) { client in
      let response = try await client.get("/notes/1", headers: [.requestID: "broken-1"])
      #expect(response.status == .internalServerError)
      #expect(response.errorCode == "internal_error")
      #expect(!String(buffer: response.body).contains("Broken"))
      let health = try await client.get("/health")
      #expect(health.status == .serviceUnavailable)
      #expect(health.errorCode == "unavailable")
    }
    let errors = log.entries.filter { $0.level == .error }
    #expect(errors.count == 2)
    #expect(errors.first?.error is Broken)
    #expect(errors.first?.metadata["hb.request.id"] == "broken-1")
  }
}
