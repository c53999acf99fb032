/// Reads the query of a request.
///
/// - Returns: The resource that the page asks for, which is the text before the first `&`, and the values of each
///   parameter. Nil if a value is not valid.
func query(of target: String) -> (resource: String, values: [String: [String]])? {
  let parts = target.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    .split(separator: "&", omittingEmptySubsequences: false)
  var values: [String: [String]] = [:]
  for part in parts.dropFirst() {
    guard let value = decoded(part.drop { $0 != "=" }.dropFirst()) else { return nil }
    values[String(part.prefix { $0 != "=" }), default: []].append(value)
  }
  return (String(parts.first ?? ""), values)
}

/// Removes the percent encoding from a text; nil if the encoding is not valid.
private func decoded(_ text: Substring) -> String? {
  let parts = text.split(separator: "%", omittingEmptySubsequences: false)
  var bytes = Array(parts[0].utf8)
  for part in parts.dropFirst() {
    let digits = part.prefix(2)
    // The initialiser alone would accept a sign: `UInt8("+5", radix: 16)` is 5.
    guard digits.count == 2, digits.allSatisfy(\.isHexDigit), let byte = UInt8(digits, radix: 16) else { return nil }
    bytes.append(byte)
    bytes += part.dropFirst(2).utf8
  }
  return String(validating: bytes, as: UTF8.self)
}
