/// Describes a key for messages: the type, and the name if there is one.
@inline(never)
package func describeKey(_ typeName: String, _ name: String?) -> String {
  let type = describeType(typeName)
  return name.map { spelled("\(type) named \"\($0)\"") } ?? type
}

/// Describes a type for messages.
func describeType(_ type: Any.Type) -> String { describeType(TypeIdentity.of(type).text) }

/// Describes a type for messages: `Shop.Cart`, or `Shop.(private).Cart` if the type is private to a file or local to a
/// function.
///
/// - Parameter typeName: The text that `String(reflecting:)` returns for the type. For a private or local type, it
///   contains an address, which tells a reader nothing and differs in each process: `Shop.(unknown context at
///   $55d06af61004).Cart`.
package func describeType(_ typeName: String) -> String {
  let parts = typeName.split(separator: "(", omittingEmptySubsequences: false)
  return parts.dropFirst().reduce(into: String(parts[0])) { description, part in
    guard part.hasPrefix("unknown context at $"), let end = part.firstIndex(of: ")") else {
      return description += "(\(part)"
    }
    // A local type is in several such contexts: its function, and the file if the function is private.
    description += description.hasSuffix("(private).") ? part[end...].dropFirst(2) : "(private\(part[end...])"
  }
}

/// The types' names, as `String(reflecting:)` spells them.
package func typeNames(_ types: [Any.Type]) -> [String] { types.map { TypeIdentity.of($0).text } }

/// Describes a path for messages: the tags from the root down.
func describePath(_ tags: [String]) -> String { tags.map(oneLine).joined(separator: " / ") }

/// Describes a path for messages, in quotes.
@inline(never)
package func quoted(_ tags: [String]) -> String { spelled("\"\(describePath(tags))\"") }

/// Prepares a user's text for messages. The text may contain anything, so this escapes control characters, line breaks,
/// and characters that change the direction of the text; and backslashes, so that different texts stay different.
package func oneLine(_ text: String) -> String {
  text.unicodeScalars.reduce(into: "") { line, scalar in
    let mustBeEscaped =
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: scalar == "\\" || scalar.properties.isBidiControl
      }
    if mustBeEscaped { line += scalar.escaped(asASCII: true) } else { line.unicodeScalars.append(scalar) }
  }
}
