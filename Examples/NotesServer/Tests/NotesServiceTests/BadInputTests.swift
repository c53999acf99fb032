import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import NotesService

/// A request that must fail, and the error that its client gets.
struct BadInput: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var method = HTTPRequest.Method.post
  var uri = "/notes"
  var contentType: String? = "application/json"
  var body: String?
  let status: HTTPResponse.Status
  let code: String

  static let paths = [
    BadInput(testDescription: "unknown path", method: .get, uri: "/nowhere", status: .notFound, code: "not_found"),
    BadInput(testDescription: "root", method: .get, uri: "/", status: .notFound, code: "not_found"),
    BadInput(
      testDescription: "path below a note", method: .get, uri: "/notes/1/x", status: .notFound, code: "not_found"),
    BadInput(
      testDescription: "no debug route", method: .get, uri: "/debug/contexts", status: .notFound, code: "not_found"
    ),
    BadInput(testDescription: "no such note", method: .get, uri: "/notes/99", status: .notFound, code: "not_found"),
    BadInput(
      testDescription: "no such note to delete", method: .delete, uri: "/notes/99", status: .notFound, code: "not_found"
    ),
    BadInput(
      testDescription: "no such note to replace", method: .put, uri: "/notes/99", body: #"{"title": "x"}"#,
      status: .notFound, code: "not_found"),
    BadInput(
      testDescription: "method of all notes", method: .delete, status: .methodNotAllowed, code: "method_not_allowed"),
    BadInput(
      testDescription: "method of a note", method: .patch, uri: "/notes/1", status: .methodNotAllowed,
      code: "method_not_allowed"),
    BadInput(
      testDescription: "method of health", uri: "/health", status: .methodNotAllowed, code: "method_not_allowed"),
  ]

  static let ids = ["abc", "0", "-1", "1.5", "9223372036854775808", "%31", "1;DROP", "0x1", "١"].map { id in
    BadInput(testDescription: "id \(id)", method: .get, uri: "/notes/\(id)", status: .badRequest, code: "invalid_id")
  }

  static let queries = [
    "limit=0", "limit=101", "limit=-1", "limit=ten", "limit=", "limit=1e1", "after=-1", "after=x",
    "after=9223372036854775808", "limit=99999999999999999999999", "limit=5&after=%00",
  ].map { query in
    BadInput(
      testDescription: query, method: .get, uri: "/notes?\(query)", status: .badRequest, code: "invalid_parameter")
  }

  static let noJSON = [
    "", "{", #"{"title": "x""#, "title=x", #"{"title": "\ud800"}"#, #"{"title": "x"} {"#, "\u{0}",
    String(repeating: "[", count: 50_000),
  ].map { body in
    BadInput(testDescription: "JSON \(body.prefix(20))", body: body, status: .badRequest, code: "malformed_json")
  }

  static let noNotes = [
    "[]", "null", "5", #""x""#, "{}", #"{"body": "x"}"#, #"{"title": null}"#, #"{"title": 5}"#, #"{"title": ["x"]}"#,
    #"{"title": "x", "body": 5}"#, #"{"title": ""}"#, #"{"title": " \n\t"}"#, #"{"title": "a\u0000b"}"#,
    #"{"title": "x", "body": "\u0000"}"#, #"{"title": "\#(String(repeating: "x", count: 201))"}"#,
    #"{"title": "x", "body": "\#(String(repeating: "x", count: 10_001))"}"#,
  ].map { body in
    BadInput(
      testDescription: "note \(body.prefix(30))", body: body, status: .unprocessableContent, code: "invalid_note")
  }

  static let mediaTypes = [
    nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json", "/", "",
  ].map {
    BadInput(
      testDescription: "content type \($0 ?? "none")", contentType: $0, body: #"{"title": "x"}"#,
      status: .unsupportedMediaType, code: "unsupported_media_type")
  }

  static let tooLarge = [
    BadInput(
      testDescription: "body too large", body: #"{"title": "x", "body": "\#(String(repeating: "x", count: 70_000))"}"#,
      status: .contentTooLarge, code: "body_too_large")
  ]

  static let all = paths + ids + queries + noJSON + noNotes + mediaTypes + tooLarge
}

/// Whatever clients send, they learn in one form what was wrong, and the server keeps running.
@Suite struct BadInputTests {
  @Test(arguments: BadInput.all)
  func isRefused(_ input: BadInput) async throws {
    try await withService(wiring: .udi) { client in
      var headers = HTTPFields()
      headers[.contentType] = input.contentType
      let response = try await client.execute(
        uri: input.uri, method: input.method, headers: headers, body: input.body.map(ByteBuffer.init(string:)))
      #expect(response.status == input.status)
      #expect(response.errorCode == input.code)
      #expect(response.headers[.contentType] == "application/json; charset=utf-8")
      #expect(response.headers[.requestID] != nil)
    }
  }

  @Test func isRefusedByHandWiringAsWell() async throws {
    try await withService(wiring: .hand) { client in
      for input in BadInput.all {
        var headers = HTTPFields()
        headers[.contentType] = input.contentType
        let response = try await client.execute(
          uri: input.uri, method: input.method, headers: headers, body: input.body.map(ByteBuffer.init(string:)))
        #expect(response.status == input.status, "\(input.testDescription)")
        #expect(response.errorCode == input.code, "\(input.testDescription)")
      }
    }
  }

  @Test func saysWhichMethodsAreAllowed() async throws {
    try await withService(wiring: .udi) { client in
      let response = try await client.execute(uri: "/notes/1", method: .post)
      #expect(response.headers[.allow] == "GET, HEAD, PUT, DELETE")
    }
  }

  @Test(arguments: ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])
  func takesEverySpellingOfTheMediaType(_ mediaType: String) async throws {
    try await withService(wiring: .udi) { client in
      let response = try await client.execute(
        uri: "/notes", method: .post, headers: [.contentType: mediaType], body: ByteBuffer(string: #"{"title": "x"}"#))
      #expect(response.status == .created)
    }
  }

  @Test func takesWhatIsJustSmallEnough() async throws {
    try await withService(wiring: .udi) { client in
      let title = String(repeating: "t", count: 200)
      let body = String(repeating: "b", count: 10_000)
      let response = try await client.send(#"{"title": "\#(title)", "body": "\#(body)"}"#, .post, "/notes")
      #expect(response.status == .created)
      #expect(try await client.get("/notes?limit=100").status == .ok)
    }
  }
}
