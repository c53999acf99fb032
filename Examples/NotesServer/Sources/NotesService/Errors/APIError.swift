import HTTPTypes
import Hummingbird

/// The error that a client gets for a request that failed: `{"error":{"code":"…","message":"…"}}`.
struct APIError: HTTPResponseError {
  let status: HTTPResponse.Status
  /// For programs: it never changes.
  let code: String
  /// For people.
  let message: String
  var headers: HTTPFields = [:]

  func response(from request: Request, context: some RequestContext) throws -> Response {
    try .json(Body(error: Body.Contents(code: code, message: message)), status: status, headers: headers)
  }

  private struct Body: Encodable {
    struct Contents: Encodable {
      let code: String
      let message: String
    }

    let error: Contents
  }
}

extension APIError {
  static func noNote(_ id: Int64) -> APIError {
    APIError(status: .notFound, code: "not_found", message: "there is no note \(id)")
  }

  static var invalidID: APIError {
    APIError(status: .badRequest, code: "invalid_id", message: "the id of a note must be a number, at least 1")
  }

  static func invalidParameter(_ message: String) -> APIError {
    APIError(status: .badRequest, code: "invalid_parameter", message: message)
  }

  static func invalidNote(_ message: String) -> APIError {
    APIError(status: .unprocessableContent, code: "invalid_note", message: message)
  }

  static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> APIError {
    let names = allowed.map(\.rawValue).joined(separator: ", ")
    return APIError(
      status: .methodNotAllowed, code: "method_not_allowed", message: "the allowed methods are \(names)",
      headers: [.allow: names])
  }

  static var unsupportedMediaType: APIError {
    APIError(
      status: .unsupportedMediaType, code: "unsupported_media_type", message: "the body must be application/json")
  }

  static func bodyTooLarge(_ limit: Int) -> APIError {
    APIError(
      status: .contentTooLarge, code: "body_too_large", message: "the body must not be larger than \(limit) bytes")
  }

  static func unavailable(_ message: String) -> APIError {
    APIError(status: .serviceUnavailable, code: "unavailable", message: message)
  }

  /// Does not say what was wrong: that is in the log.
  static var internalError: APIError {
    APIError(status: .internalServerError, code: "internal_error", message: "the request failed")
  }
}
