import UDI

extension UDITreePage {
  /// Returns the way of a lookup through the tree for the page, as `explain` reports it.
  ///
  /// - Parameter query: Has these parameters: `path`, the tags of the contexts below the page's context, down to the
  ///   one where the lookup begins; `type` and `name`, the texts of the key; and `search`.
  /// - Returns: JSON, or nil if the query is not valid. `{}` if there is no such context, or if nothing is registered
  ///   under the key.
  func way(_ query: Query) -> String? {
    guard let type = query["type"], let tags = query.parts("path") else { return nil }
    let search = query["search"].map { UDISearch(rawValue: $0) }
    if case .some(nil) = search { return nil }
    var json = JSON()
    json.object { json in
      guard let start = tags.reduce(context, { $0?.child(tag: $1) }) else { return }
      guard let found = start.explain(typeNamed: type, named: query["name"], search: search ?? nil) else { return }
      write(found, to: &json)
    }
    return json.text
  }

  private func write(_ explanation: UDIExplanation, to json: inout JSON) {
    json.member("summary", explanation.summary)
    if let advice = explanation.advice { json.member("advice", advice) }
    json.member("search", explanation.search.rawValue)
    json.member("omittedCount", explanation.omittedCount)
    json.member("equallyNearCount", explanation.equallyNear.count)
    if let outside = explanation.nearestOutside {
      json.key("outside")
      json.array(outside.fullPath) { $0.value($1) }
    }
    let answer = explanation.contexts.firstIndex { $0.findings.contains(where: explanation.isAnswer) }
    json.key("steps")
    json.array(explanation.contexts.enumerated()) { json, step in
      json.object { json in
        json.key("path")
        json.array(step.element.fullPath) { $0.value($1) }
        json.member("isAnswer", if: step.offset == answer)
        json.key("findings")
        json.array(step.element.findings) { write($1, to: &$0) }
      }
    }
  }

  private func write(_ finding: UDIEntry, to json: inout JSON) {
    json.object { json in
      json.member("kind", finding.kind.rawValue)
      json.member("type", finding.typeName)
      json.key("name")
      if let name = finding.name { json.value(name) } else { json.raw("null") }
      json.key("className")
      if let className = finding.className { json.value(className) } else { json.raw("null") }
      json.key("lifetime")
      if let lifetime = finding.lifetime { json.value(lifetime) } else { json.raw("null") }
      json.member("site", finding.site)
    }
  }
}
