/// The query of a request: the resource that the page asks for, and its parameters.
struct Query {
  /// The resource: the text before the first `&`; empty if there is no query.
  let resource: String
  private let values: [Substring: String]

  init(_ target: String) {
    let query = target.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    let parts = query.split(separator: "&", omittingEmptySubsequences: false)
    resource = String(parts.first ?? "")
    values = Dictionary(
      parts.dropFirst().map { part in
        (part.prefix { $0 != "=" }, String(part.drop { $0 != "=" }.dropFirst()))
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The value of a parameter; nil if it is missing or not valid.
  subscript(_ name: Substring) -> String? { values[name].flatMap(decoded) }

  /// Returns the value of a parameter that has several parts, each preceded by a `/`. Returns no parts if the parameter
  /// is missing, and nil if it is not valid. The parts are decoded one by one, because they may contain a `/`
  /// themselves.
  func parts(_ name: Substring) -> [String]? {
    let value = values[name] ?? ""
    let parts = value.split(separator: "/", omittingEmptySubsequences: false).map { decoded(String($0)) }
    return parts.contains(nil) ? nil : parts.dropFirst().compactMap(\.self)
  }
}

/// Removes the percent encoding from a text; nil if the encoding is not valid.
private func decoded(_ text: String) -> String? {
  var bytes: [UInt8] = []
  var rest = text.utf8[...]
  while let byte = rest.popFirst() {
    guard byte == UInt8(ascii: "%") else {
      bytes.append(byte)
      continue
    }
    // Digit by digit, because `UInt8("+5", radix: 16)` is 5.
    guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else { return nil }
    bytes.append(high << 4 | low)
  }
  return String(validating: bytes, as: UTF8.self)
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
  Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
}
