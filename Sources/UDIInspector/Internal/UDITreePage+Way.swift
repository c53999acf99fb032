import UDI

extension UDITreePage {
  /// Returns the way of a lookup through the tree for the page, as `explain` reports it.
  ///
  /// - Parameter query: Has these parameters: one `tag` for each of the contexts below the page's context, down to the
  ///   one where the lookup begins; `type` and `name`, the texts of the key; and `search`.
  /// - Returns: JSON, or nil if the query is not valid.
  func way(_ query: [String: [String]]) -> String? {
    let search = query["search"]?.first
    let direction = search.flatMap { UDISearch(rawValue: $0) }
    guard let type = query["type"]?.first, (search == nil) == (direction == nil) else { return nil }
    let name = query["name"]?.first
    let start = (query["tag"] ?? []).reduce(context) { $0?.child(tag: $1) }
    guard let found = start?.explain(typeNamed: type, named: name, search: direction) else {
      let summary = start == nil ? "The context is gone." : "No \(describeKey(type, name)) is registered in this tree."
      return jsonObject(["summary": jsonText(summary), "steps": "[]"])
    }
    let answer = found.contexts.firstIndex { $0.findings.contains(where: found.isAnswer) }
    let steps = found.contexts.enumerated().map { index, context in
      jsonObject([
        "path": jsonArray(texts: context.fullPath), "isAnswer": index == answer ? "true" : nil,
        "findings": jsonArray(context.findings.map { $0.json(jsonText) }), "others": "\(context.omittedCount)",
      ])
    }
    return jsonObject([
      "summary": jsonText(found.summary), "advice": found.advice.map(jsonText),
      "listsAll": found.contexts.count < UDIExplanation.enoughContexts ? "true" : nil,
      "omitted": "\(found.omittedCount)", "equallyNear": "\(found.equallyNear.count)",
      "outside": (found.nearestOutside?.fullPath).map(jsonArray(texts:)), "steps": jsonArray(steps),
    ])
  }
}
