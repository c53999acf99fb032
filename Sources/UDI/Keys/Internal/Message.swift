/// A text that is made by interpolation, like a `String`, but is compiled into less code: each part of a `String`'s
/// interpolation takes some 100 bytes, and each part of a message some 30. For the texts of errors and explanations,
/// which are many and long.
struct Message: ExpressibleByStringInterpolation {
  let text: String

  init(stringLiteral literal: String) { text = literal }

  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    @inline(never)
    init(literalCapacity: Int, interpolationCount: Int) {}

    @inline(never)
    mutating func appendLiteral(_ literal: String) { text += literal }

    @inline(never)
    mutating func appendInterpolation(_ part: consuming String) { text += part }

    @inline(never)
    mutating func appendInterpolation(_ value: Any) { text += String(describing: value) }
  }
}

/// The text of a message. Use this where a `String` is expected.
func spelled(_ message: Message) -> String { message.text }
