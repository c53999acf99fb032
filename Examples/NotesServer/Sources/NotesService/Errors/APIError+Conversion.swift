import HTTPTypes
import Hummingbird

extension APIError {
  /// Says what is wrong with a body: it is not JSON, or it is JSON but not a note.
  init(_ error: DecodingError) {
    func path(_ keys: [any CodingKey]) -> String {
      keys.isEmpty ? "the body" : keys.map(\.stringValue).joined(separator: ".")
    }
    switch error {
    case .keyNotFound(let key, let context): self = .invalidNote("\(path(context.codingPath + [key])) is missing")
    case .valueNotFound(_, let context): self = .invalidNote("\(path(context.codingPath)) must not be null")
    case .typeMismatch(_, let context): self = .invalidNote("\(path(context.codingPath)) has the wrong type")
    default: self = APIError(status: .badRequest, code: "malformed_json", message: "the body is not valid JSON")
    }
  }

  /// Turns any error into what a client may know about it; nil for internal errors.
  init?(_ error: any Error) {
    switch error {
    case let error as APIError: self = error
    case is CancellationError: self = .unavailable("the server is stopping")
    case let error as any HTTPResponseError: self = APIError(error.status)
    default: return nil
    }
  }

  /// Makes an error from one of the framework's.
  private init(_ status: HTTPResponse.Status) {
    self =
      status == .notFound
      ? APIError(status: status, code: "not_found", message: "there is nothing at this path")
      : APIError(status: status, code: "bad_request", message: status.reasonPhrase)
  }
}
