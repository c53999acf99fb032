import HTTPTypes

/// What a client sends to make a note or to replace one. Fields that it does not know are left alone.
public struct NoteDraft: Sendable, Decodable {
  let title: String
  let body: String

  private enum CodingKeys: CodingKey {
    case title, body
  }

  /// Reads a draft, in which the body may be left out.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    title = try container.decode(String.self, forKey: .title)
    body = try container.decodeIfPresent(String.self, forKey: .body) ?? ""
  }

  /// Checks what the types do not say.
  ///
  /// - Parameter limits: How large it may be.
  /// - Throws: What is wrong with it, for the client.
  func check(_ limits: NoteLimits) throws(APIError) {
    if title.allSatisfy(\.isWhitespace) { throw .invalidNote("title must not be empty") }
    if title.count > limits.titleLength {
      throw .invalidNote("title must not be longer than \(limits.titleLength) characters")
    }
    if body.count > limits.bodyLength {
      throw .invalidNote("body must not be longer than \(limits.bodyLength) characters")
    }
    // SQLite keeps such a text, but reads it up to there.
    if (title + body).unicodeScalars.contains("\0") { throw .invalidNote("texts must not contain U+0000") }
  }
}
