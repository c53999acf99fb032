import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore

@testable import NotesService

extension TestClientProtocol {
  /// Sends a JSON body.
  @discardableResult
  func send(
    _ json: String, _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields = [:]
  ) async throws -> TestResponse {
    var headers = headers
    headers[.contentType] = "application/json"
    return try await execute(uri: uri, method: method, headers: headers, body: ByteBuffer(string: json))
  }

  /// Sends a GET request.
  func get(_ uri: String, headers: HTTPFields = [:]) async throws -> TestResponse {
    try await execute(uri: uri, method: .get, headers: headers)
  }
}

extension TestResponse {
  /// Decodes the body.
  func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      return try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
    return try decoder.decode(type, from: Data(body.readableBytesView))
  }

  /// The code of an error; nil if the body is not an error.
  var errorCode: String? { try? json(ErrorBody.self).error.code }
}

private struct ErrorBody: Decodable {
  struct Contents: Decodable {
    let code: String
    let message: String
  }

  let error: Contents
}
