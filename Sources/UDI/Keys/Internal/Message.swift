/// A text that is made by interpolation, like a `String`. Messages are made with this type because each part of a
/// `String`'s interpolation is compiled into some 100 bytes, and each part of a message into some 30.
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
    mutating func appendInterpolation(_ number: Int) { text += number.description }

    @inline(never)
    mutating func appendInterpolation(_ value: Any) { text += String(describing: value) }
  }
}

/// The text of a message. Use this where a `String` is expected.
func spelled(_ message: Message) -> String { message.text }
