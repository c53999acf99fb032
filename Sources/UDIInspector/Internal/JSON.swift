/// Writes JSON.
///
/// Characters that have a meaning in HTML are escaped; for example, `<` becomes `\u003C`. The text can therefore be put
/// into a script element as it is.
struct JSON {
  private(set) var text = ""
  private var needsComma = false

  /// Writes an object: `{…}`.
  mutating func object(_ body: (inout JSON) -> Void) { enclose("{", body, "}") }

  /// Writes an array: `[…]`.
  mutating func array(_ body: (inout JSON) -> Void) { enclose("[", body, "]") }

  mutating func array<Elements: Sequence>(_ elements: Elements, _ body: (inout JSON, Elements.Element) -> Void) {
    array { json in for element in elements { body(&json, element) } }
  }

  /// Writes the key of a member. The caller writes the value next.
  mutating func key(_ key: String) {
    value(key)
    text += ":"
    needsComma = false
  }

  mutating func member(_ name: String, _ value: String) {
    key(name)
    self.value(value)
  }

  mutating func member(_ name: String, _ value: Int) {
    key(name)
    self.value(value)
  }

  /// Writes a member only if its value is true, because most are false.
  mutating func member(_ name: String, if value: Bool) {
    guard value else { return }
    key(name)
    raw("true")
  }

  mutating func value(_ value: Int) { raw("\(value)") }

  mutating func value(_ value: String) {
    separate()
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      // Characters that can end a script, line separators of JavaScript, and control characters.
      case "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..<" ", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  /// Writes a value that is already in JSON.
  mutating func raw(_ json: String) {
    separate()
    text += json
  }

  private mutating func enclose(_ begin: String, _ body: (inout JSON) -> Void, _ end: String) {
    separate()
    text += begin
    needsComma = false
    body(&self)
    text += end
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { text += "," }
    needsComma = true
  }
}
