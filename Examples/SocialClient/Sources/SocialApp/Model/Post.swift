/// A person's name on the network.
struct Handle: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  let name: String
  init(_ name: String) { self.name = name }
  init(stringLiteral name: String) { self.name = name }
  var description: String { "@\(name)" }
}

/// Something that a person has published.
struct Post: Hashable, Sendable {
  let id: Int
  let author: Handle
  let text: String
  let replyTo: Int?
  let media: [String]

  /// The words that begin with `#`, without it.
  var tags: [String] { words(after: "#") }
  /// The people whom the text mentions.
  var mentions: [Handle] { words(after: "@").map { Handle($0) } }

  private func words(after mark: Character) -> [String] {
    let words: [Substring] = text.split(separator: " ")
    return words.filter { $0.first == mark && $0.count > 1 }.map { String($0.dropFirst()) }
  }
}

/// Something that a person is notified of.
struct Notice: Hashable, Sendable {
  enum Kind: Sendable { case mention, like, follow }
  let id: Int
  let kind: Kind
  let from: Handle
  let post: Int?
}

/// What a server tells about a person.
struct Profile: Hashable, Sendable {
  let handle: Handle
  let posts: Int
  let followers: Int
}

/// Who has logged in.
struct Account: Hashable, Sendable { let handle: Handle }

/// What a server gives to a client that has logged in.
struct Token: Hashable, Sendable { let text: String }
