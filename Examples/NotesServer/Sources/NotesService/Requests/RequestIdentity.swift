import HTTPTypes

/// Identifies a request: in the response, in every line of the log, and as the tag of the request's context.
public struct RequestIdentity: Sendable, Hashable {
  /// The client's id for the request, or the server's.
  public let id: String

  init(id: String) { self.id = id }

  /// Takes over the client's id, if it can be shown and logged as it is.
  ///
  /// - Parameter header: What the client sent.
  init?(header: String) {
    guard 1...64 ~= header.utf8.count, header.utf8.allSatisfy(Self.isSane) else { return nil }
    id = header
  }

  private static func isSane(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension HTTPField.Name {
  /// The header that carries the id in requests and responses.
  static let requestID: HTTPField.Name = {
    guard let name = HTTPField.Name("X-Request-Id") else { preconditionFailure("it is a token") }
    return name
  }()
}
