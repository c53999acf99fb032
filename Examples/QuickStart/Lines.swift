/// The lines of a text, without their line ends.
///
/// Compares bytes, because Swift takes "\r\n" for one character, which does not equal "\n".
func logLines(of text: String) -> [Substring] {
  let byteOrderMark: Unicode.Scalar = "\u{FEFF}"
  let scalars = text.unicodeScalars.first == byteOrderMark ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
  var lines = Substring(scalars).utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  // There is no further line after the last line end, and none in an empty text.
  if lines.last?.isEmpty == true { lines.removeLast() }
  return lines.map { Substring($0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0) }
}

/// Takes a line apart, from left to right.
struct LineScanner {
  private var rest: Substring.UTF8View

  init(_ line: Substring) { rest = line.utf8 }

  /// Takes the text before the next separator, and skips the separator; returns nil, and takes nothing, if there is
  /// none.
  mutating func text(before separator: Unicode.Scalar) -> Substring? {
    guard let end = rest.firstIndex(of: UInt8(ascii: separator)) else { return nil }
    defer { rest = rest[rest.index(after: end)...] }
    return Substring(rest[..<end])
  }

  /// Takes the text up to the next space, or to the end; returns nil at the end, and if a space comes first.
  mutating func word() -> Substring? {
    let word = text(before: " ") ?? takeAll()
    return word.isEmpty ? nil : word
  }

  /// Takes the text between two double quotes. A backslash protects the next character.
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

  /// Takes as many bytes as a shape has, if they have that shape; otherwise returns nil and takes nothing.
  mutating func text(shaped shape: String) -> Substring? {
    let taken = rest.prefix(shape.utf8.count)
    guard taken.hasShape(shape) else { return nil }
    rest = rest.dropFirst(taken.count)
    return Substring(taken)
  }

  /// Skips a text; returns false if something else comes next.
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
  /// Whether this text has a shape, in which `0` stands for a digit, `_` for a digit or a space, `A` for a letter, and
  /// anything else for itself.
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
