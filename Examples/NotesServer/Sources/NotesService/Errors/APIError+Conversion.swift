import HTTPTypes
import Hummingbird

extension APIError {
  /// Says what is wrong with a body: that it is no JSON, or that it is, but no note.
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

  /// Says of any error what a client may know; nil of those that are nobody's business but ours.
  init?(_ error: any Error) {
    switch error {
    case let error as APIError: self = error
    case is CancellationError: self = .unavailable("the server is stopping")
    case let error as any HTTPResponseError: self = APIError(error.status)
    default: return nil
    }
  }

  /// An error of the framework's.
  private init(_ status: HTTPResponse.Status) {
    self =
      status == .notFound
      ? APIError(status: status, code: "not_found", message: "there is nothing at this path")
      : APIError(status: status, code: "bad_request", message: status.reasonPhrase)
  }
}
