import UDI

extension UDISnapshot {
  /// The data of the page, as JSON: this snapshot in a compact form. In place of each text of an entry, there is the
  /// text's index in a table, because the same few texts occur again and again in a tree of thousands of contexts.
  ///
  /// - Parameter path: The tags of the contexts from the root to the first context, both included.
  func pageData(at path: [String]) -> String {
    var texts: [String] = []
    var numbers: [String: Int] = [:]
    func number(_ text: String) -> String {
      let number = numbers[text] ?? texts.count
      if number == texts.count {
        numbers[text] = number
        texts.append(text)
      }
      return "\(number)"
    }
    func list(_ entries: [UDIEntry]) -> String? { entries.isEmpty ? nil : jsonArray(entries.map { $0.json(number) }) }
    func place(_ position: Position) -> String { "[\(position.context),\(position.index)]" }

    let contexts = contexts.map { context in
      jsonObject([
        "tag": jsonText(context.tag), "parent": context.parent.map { "\($0)" },
        "scope": context.scopeKind.map(jsonText),
        "search": context.search == .lineage ? nil : jsonText(context.search.rawValue),
        "entries": list(context.entries), "removed": list(context.removedBindings),
      ])
    }
    // The page shows an object that has no entry in its context.
    let dependents = dependents.map { dependent in
      jsonObject([
        "entry": dependent.entries.first.map(place),
        "context": dependent.isProvider ? nil : dependent.context.map { "\($0)" },
        "type": number(dependent.typeName), "name": dependent.name.map(number),
        "path": dependent.entries.isEmpty ? jsonArray(texts: dependent.fullPath) : nil,
      ])
    }
    let uses = uses.map { use in
      jsonObject([
        "dependent": "\(use.dependent)", "entry": use.entry.map(place), "type": number(use.typeName),
        "name": use.name.map(number), "path": use.entry == nil ? use.fullPath.map(jsonArray(texts:)) : nil,
      ])
    }
    return jsonObject([
      "path": jsonArray(texts: path), "contexts": jsonArray(contexts), "dependents": jsonArray(dependents),
      "uses": jsonArray(uses), "texts": jsonArray(texts: texts),
    ])
  }
}

extension UDIEntry {
  /// The facts that the page shows, by the names that its script knows them by.
  ///
  /// - Parameter text: Writes a text.
  func json(_ text: (String) -> String) -> String {
    jsonObject([
      "kind": text(kind.rawValue), "type": text(typeName), "name": name.map(text), "className": className.map(text),
      "site": text(site), "end": endFileID.map { text("\($0):\(endLine ?? 0)") },
      "isAlive": isGone && isAlive ? text("true") : nil, "lifetime": lifetime.map(text),
      "wants": argumentTypes.isEmpty ? nil : text(argumentTypes.joined(separator: ", ")),
      "failure": (failure?.message).map(text),
      "nanoseconds": lastDuration.map { text("\($0 / .nanoseconds(1))") },
    ])
  }
}
