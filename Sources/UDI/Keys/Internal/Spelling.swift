/// A key, as all messages spell it: the type, and the name if there is one.
func describeKey(_ typeName: String, _ name: (some CustomStringConvertible)?) -> String {
  name.map { "\(typeName) named \($0)" } ?? typeName
}

/// A user's text as messages spell it. It may contain anything, so characters that would break a line, and invisible
/// ones, are escaped.
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
