/// The lines of a text, without their ends.
///
/// Bytes are compared, not characters: Swift takes "\r\n" for one character, which is then no "\n".
func logLines(of text: String) -> [Substring] {
  let byteOrderMark: Unicode.Scalar = "\u{FEFF}"
  let scalars = text.unicodeScalars.first == byteOrderMark ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
  var lines = Substring(scalars).utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  // What follows the last line's end is not a line. Nor is there one in an empty text.
  if lines.last?.isEmpty == true { lines.removeLast() }
  return lines.map { Substring($0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0) }
}

/// Takes a line apart from left to right.
struct LineScanner {
  private var rest: Substring.UTF8View

  init(_ line: Substring) { rest = line.utf8 }

  /// What comes before the next separator, which is passed over; nil, and nothing taken, if there is none.
  mutating func text(before separator: Unicode.Scalar) -> Substring? {
    guard let end = rest.firstIndex(of: UInt8(ascii: separator)) else { return nil }
    defer { rest = rest[rest.index(after: end)...] }
    return Substring(rest[..<end])
  }

  /// The text up to the next space, or up to the end; nil at the end and where a space comes first.
  mutating func word() -> Substring? {
    let word = text(before: " ") ?? takeAll()
    return word.isEmpty ? nil : word
  }

  /// What stands between a pair of double quotes, in which a backslash protects the next character.
  mutating func quoted() -> Substring? {
    guard rest.first == UInt8(ascii: "\"") else { return nil }
    let start = rest.index(after: rest.startIndex)
    var end = start
    while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
      if rest[end] == UInt8(ascii: "\\") { rest.formIndex(after: &end) }
      if end < rest.endIndex { rest.formIndex(after: &end) }
    }
    guard end < rest.endIndex else { return nil }
    defer { rest = rest[rest.index(after: end)...] }
    return Substring(rest[start..<end])
  }

  /// As many bytes as a shape has, if they are of that shape; otherwise nil, and nothing taken.
  mutating func text(shaped shape: String) -> Substring? {
    let taken = rest.prefix(shape.utf8.count)
    guard taken.hasShape(shape) else { return nil }
    rest = rest.dropFirst(taken.count)
    return Substring(taken)
  }

  /// Passes over a text; false if something else comes next.
  mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private mutating func takeAll() -> Substring {
    defer { rest = rest[rest.endIndex...] }
    return Substring(rest)
  }
}

extension Substring.UTF8View {
  /// Whether this looks like a shape, in which `0` stands for a digit, `_` for a digit or a space, `A` for a letter,
  /// and anything else for itself.
  func hasShape(_ shape: String) -> Bool {
    elementsEqual(shape.utf8) { byte, wanted in
      let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      return switch Unicode.Scalar(wanted) {
      case "0": isDigit
      case "_": isDigit || byte == UInt8(ascii: " ")
      case "A": UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
      default: byte == wanted
      }
    }
  }
}
