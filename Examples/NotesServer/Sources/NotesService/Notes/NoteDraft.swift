import HTTPTypes

/// What a client sends to create or replace a note. Unknown fields are ignored.
public struct NoteDraft: Sendable, Decodable {
  let title: String
  let body: String

  private enum CodingKeys: CodingKey {
    case title, body
  }

  /// Reads a draft. The body may be missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    title = try container.decode(String.self, forKey: .title)
    body = try container.decodeIfPresent(String.self, forKey: .body) ?? ""
  }

  /// Checks what the types do not guarantee.
  ///
  /// - Parameter limits: How large the note may be.
  /// - Throws: What is wrong with the draft, for the client.
  func check(_ limits: NoteLimits) throws(APIError) {
    if title.allSatisfy(\.isWhitespace) { throw .invalidNote("title must not be empty") }
    if title.count > limits.titleLength {
      throw .invalidNote("title must not be longer than \(limits.titleLength) characters")
    }
    if body.count > limits.bodyLength {
      throw .invalidNote("body must not be longer than \(limits.bodyLength) characters")
    }
    // SQLite stores such a text, but reads it only up to this character.
    if (title + body).unicodeScalars.contains("\0") { throw .invalidNote("texts must not contain U+0000") }
  }
}
