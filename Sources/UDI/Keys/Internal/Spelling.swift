/// Describes a key for messages: the type, and the name if there is one.
package func describeKey(_ typeName: String, _ name: (some CustomStringConvertible)?) -> String {
  name.map { "\(typeName) named \($0)" } ?? typeName
}

/// Describes types for messages, in the same way as `String(reflecting:)`.
func typeNames(_ types: [Any.Type]) -> [String] { types.map { TypeIdentity.of($0).text } }

/// Describes a path for messages: the tags from the root down.
func describePath(_ tags: [String]) -> String { tags.map(oneLine).joined(separator: " / ") }

/// Describes a path for messages, in quotes.
package func quoted(_ tags: [String]) -> String { "\"\(describePath(tags))\"" }

/// Prepares a user's text for messages. The text may contain anything, so this escapes control characters, line breaks,
/// and characters that change the direction of the text.
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
