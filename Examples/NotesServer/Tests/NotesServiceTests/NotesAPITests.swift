import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import NotesService

/// What clients can do, with either wiring.
@Suite struct NotesAPITests {
  @Test(arguments: WiringUnderTest.allCases)
  func makesAndShowsANote(_ wiring: WiringUnderTest) async throws {
    try await withService(wiring: wiring) { client in
      let made = try await client.send(#"{"title": "Tea", "body": "Buy some.", "color": "red"}"#, .post, "/notes")
      #expect(made.status == .created)
      #expect(made.headers[.contentType] == "application/json; charset=utf-8")
      let note = try made.json(Note.self)
      #expect(note.title == "Tea")
      #expect(note.body == "Buy some.")
      #expect(note.createdAt == Date(timeIntervalSince1970: 1_000_000_000))
      #expect(note.updatedAt == note.createdAt)

      let location = try #require(made.headers[.location])
      let shown = try await client.get(location)
      #expect(shown.status == .ok)
      #expect(try shown.json() == note)
    }
  }

  @Test(arguments: WiringUnderTest.allCases)
  func replacesANote(_ wiring: WiringUnderTest) async throws {
    try await withService(wiring: wiring) { client in
      try await client.send(#"{"title": "Tea", "body": "Buy some."}"#, .post, "/notes")
      let replaced = try await client.send(#"{"title": "Coffee"}"#, .put, "/notes/1")
      #expect(replaced.status == .ok)
      let note = try replaced.json(Note.self)
      #expect(note.title == "Coffee")
      #expect(note.body == "")
      #expect(try await client.get("/notes/1").json() == note)
    }
  }

  @Test(arguments: WiringUnderTest.allCases)
  func deletesANote(_ wiring: WiringUnderTest) async throws {
    try await withService(wiring: wiring) { client in
      try await client.send(#"{"title": "Tea"}"#, .post, "/notes")
      let deleted = try await client.execute(uri: "/notes/1", method: .delete)
      #expect(deleted.status == .noContent)
      #expect(deleted.body.readableBytes == 0)
      #expect(try await client.get("/notes/1").status == .notFound)
      #expect(try await client.execute(uri: "/notes/1", method: .delete).status == .notFound)
      // Its id is not used again.
      #expect(try await client.send(#"{"title": "Tea"}"#, .post, "/notes").json(Note.self).id == 2)
    }
  }

  @Test(arguments: WiringUnderTest.allCases)
  func listsPageByPage(_ wiring: WiringUnderTest) async throws {
    try await withService(wiring: wiring) { client in
      for number in 1...45 { try await client.send(#"{"title": "Note \#(number)"}"#, .post, "/notes") }
      #expect(try await client.get("/notes").json(NotePage.self).notes.count == 20)

      var listed: [Int64] = []
      var next: Int64? = 0
      while let after = next {
        let page = try await client.get("/notes?limit=15&after=\(after)").json(NotePage.self)
        listed += page.notes.map(\.id)
        next = page.next
      }
      #expect(listed == Array(1...45))
      #expect(try await client.get("/notes?after=45").json() == NotePage(notes: [], next: nil))
    }
  }

  @Test(arguments: WiringUnderTest.allCases)
  func isHealthy(_ wiring: WiringUnderTest) async throws {
    try await withService(wiring: wiring) { client in
      let response = try await client.get("/health")
      #expect(response.status == .ok)
      #expect(try response.json() == ["status": "ok"])
    }
  }

  @Test(arguments: WiringUnderTest.allCases)
  func answersHeadAsGetWithoutABody(_ wiring: WiringUnderTest) async throws {
    try await withService(wiring: wiring) { client in
      for path in ["/health", "/notes"] {
        let response = try await client.execute(uri: path, method: .head)
        #expect(response.status == .ok)
        #expect(response.body.readableBytes == 0)
      }
    }
  }

  @Test(arguments: WiringUnderTest.allCases)
  func keepsTextsAsTheyAre(_ wiring: WiringUnderTest) async throws {
    try await withService(wiring: wiring) { client in
      let title = #"  "Robert'); DROP TABLE note;--" 🫖 é e\#u{301} \#u{202E} %00 "#
      let json = try String(decoding: JSONEncoder().encode(["title": title]), as: UTF8.self)
      try await client.send(json, .post, "/notes")
      let note = try await client.get("/notes/1").json(Note.self)
      #expect(note.title.unicodeScalars.elementsEqual(title.unicodeScalars))
    }
  }
}
