// The data of the page is written as JSON, one text made of others.

/// Returns an object with the members that are not nil. The values are JSON already.
func jsonObject(_ members: KeyValuePairs<String, String?>) -> String {
  let members = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
  return "{\(members.joined(separator: ","))}"
}

/// Returns an array. The elements are JSON already.
func jsonArray(_ elements: some Sequence<String>) -> String { "[\(elements.joined(separator: ","))]" }

func jsonArray(texts: [String]) -> String { jsonArray(texts.map(jsonText)) }

/// Returns a text in quotes. Characters that have a meaning in HTML are escaped; for example, `<` becomes `\u003C`. The
/// result can therefore be put into a script element as it is.
func jsonText(_ text: String) -> String {
  var json = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": json += "\\\(scalar)"
    // Characters that can end a script, line separators of JavaScript, and control characters.
    case "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..<" ", "\u{7F}"..."\u{9F}":
      let digits = String(scalar.value, radix: 16, uppercase: true)
      json += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
    default: json.unicodeScalars.append(scalar)
    }
  }
  return json + "\""
}
