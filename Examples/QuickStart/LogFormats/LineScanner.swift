/// Takes a line apart, from left to right.
struct LineScanner {
  private var rest: Bytes

  init(_ line: Bytes) { rest = line }

  /// Takes the text before the next separator, and skips the separator; returns nil, and takes nothing, if there is
  /// none.
  mutating func text(before separator: Unicode.Scalar) -> Bytes? {
    guard let end = rest.firstIndex(of: UInt8(ascii: separator)) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }

  /// Takes the text up to the next space, or to the end; returns nil at the end, and if a space comes first.
  mutating func word() -> Bytes? {
    let word = text(before: " ") ?? takeAll()
    return word.isEmpty ? nil : word
  }

  /// Takes the text between two double quotes. A backslash protects the next character.
  mutating func quoted() -> Bytes? {
    guard rest.first == UInt8(ascii: "\"") else { return nil }
    let start = rest.startIndex + 1
    var end = start
    while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
      end += rest[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard end < rest.endIndex else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[start..<end]
  }

  /// Takes as many bytes as a shape has, if they have that shape; otherwise returns nil and takes nothing.
  mutating func text(shaped shape: StaticString) -> Bytes? {
    let taken = rest.prefix(shape.utf8CodeUnitCount)
    guard taken.hasShape(shape) else { return nil }
    rest = rest.dropFirst(taken.count)
    return taken
  }

  /// Skips a text; returns false if something else comes next.
  mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private mutating func takeAll() -> Bytes {
    defer { rest = rest[rest.endIndex...] }
    return rest
  }
}

extension Bytes {
  /// Whether this text has a shape, in which `0` stands for a digit, `_` for a digit or a space, `A` for a letter, and
  /// anything else for itself.
  func hasShape(_ shape: StaticString) -> Bool {
    shape.withUTF8Buffer { shape in
      unsafe elementsEqual(shape) { byte, wanted in
        let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        return switch wanted {
        case UInt8(ascii: "0"): isDigit
        case UInt8(ascii: "_"): isDigit || byte == UInt8(ascii: " ")
        case UInt8(ascii: "A"): UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
        default: byte == wanted
        }
      }
    }
  }
}
