/// Texts that messages share.

/// A key, as all messages spell it: the type, and the name where there is one.
func describeKey(_ typeName: String, _ name: (some CustomStringConvertible)?) -> String {
  name.map { "\(typeName) named \($0)" } ?? typeName
}

/// A path, as all messages spell it: the tags from the root on.
func describePath(_ tags: [String]) -> String {
  tags.map(oneLine).joined(separator: " / ")
}

/// A text of the user's that may hold anything, with what would break a line or hide spelled out.
func oneLine(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: { $0.properties.generalCategory.isControl }) else { return text }
  return text.unicodeScalars.map { scalar in
    scalar.properties.generalCategory.isControl ? scalar.escaped(asASCII: true) : String(scalar)
  }.joined()
}

extension Unicode.GeneralCategory {
  fileprivate var isControl: Bool {
    self == .control || self == .lineSeparator || self == .paragraphSeparator
  }
}
