/// A key, as all messages spell it: the type, and the name if there is one.
package func describeKey(_ typeName: String, _ name: (some CustomStringConvertible)?) -> String {
  name.map { "\(typeName) named \($0)" } ?? typeName
}

/// Types, as all messages spell them: as `String(reflecting:)` does.
func typeNames(_ types: [Any.Type]) -> [String] { types.map { TypeIdentity.of($0).text } }

/// A path, as messages spell it: the tags, from the root down.
func describePath(_ tags: [String]) -> String { tags.map(oneLine).joined(separator: " / ") }

/// The same, in quotes.
package func quoted(_ tags: [String]) -> String { "\"\(describePath(tags))\"" }

/// A user's text, as messages spell it. The text may contain anything, so this escapes control characters, and
/// characters that would break the line or change the direction of the text.
func oneLine(_ text: String) -> String {
  text.unicodeScalars.contains { $0.mustBeEscaped }
    ? text.unicodeScalars.map { $0.mustBeEscaped ? $0.escaped(asASCII: true) : String($0) }.joined() : text
}

extension Unicode.Scalar {
  fileprivate var mustBeEscaped: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}
