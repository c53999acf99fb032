import UDI

/// The data of the page: a snapshot in a compact form. Each text is written only once, because the same few types occur
/// again and again in a tree of thousands of contexts.
struct PageData {
  private let snapshot: UDISnapshot
  /// The tags of the contexts from the root to the first context, both included.
  private let path: [String]
  /// The entries of each context.
  private let entries: [[PageEntry]]
  /// For each object that has looked something up and has no entry of its own: its index among the page entries of its
  /// context. The keys are indices into the snapshot's `dependents`.
  private let objects: [Int: Int]
  private var texts: [String] = []
  private var numbers: [String: Int] = [:]

  init(_ context: UDIContext) {
    snapshot = context.snapshot()
    path = context.fullPath
    var entries = snapshot.contexts.map(PageEntry.entries)
    var objects: [Int: Int] = [:]
    for (index, dependent) in snapshot.dependents.enumerated() where dependent.entries.isEmpty {
      guard dependent.kind == .object, let context = dependent.context else { continue }
      objects[index] = entries[context].count
      entries[context].append(PageEntry(dependent))
    }
    self.entries = entries
    self.objects = objects
  }

  /// The data as JSON.
  ///
  /// - Parameter known: The version that the page already has. If this is still the current version, only the version
  ///   is returned.
  func json(unless known: String? = nil) -> String {
    var copy = self
    let content = copy.content()
    let version = hash(content)
    var json = JSON()
    json.object { json in
      json.member("version", version)
      if version != known { json.raw(content) }
    }
    return json.text
  }

  /// The members of the JSON object, without the braces around them.
  private mutating func content() -> String {
    var json = JSON()
    json.key("path")
    json.array(path) { $0.value($1) }
    json.key("counts")
    json.object { json in
      let all = entries.joined()
      json.member("contexts", snapshot.contexts.count)
      json.member("live", all.count { $0.kind == .live })
      json.member("dead", all.count { $0.kind == .dead })
      json.member("providers", all.count { $0.provider != nil })
      json.member("made", all.count { $0.kind == .kept })
    }
    json.key("contexts")
    json.array(snapshot.contexts.indices) { writeContext($1, to: &$0) }
    json.key("uses")
    json.array(snapshot.uses) { write($1, to: &$0) }
    json.key("texts")
    json.array(texts) { $0.value($1) }
    return json.text
  }

  private mutating func writeContext(_ index: Int, to json: inout JSON) {
    let context = snapshot.contexts[index]
    json.object { json in
      json.member("tag", context.tag)
      if let parent = context.parent { json.member("parent", parent) }
      json.member("scope", if: context.isScope)
      if context.search != .lineage { json.member("search", context.search.rawValue) }
      guard !entries[index].isEmpty else { return }
      json.key("entries")
      json.array(entries[index]) { write($1, to: &$0) }
    }
  }

  private mutating func write(_ entry: PageEntry, to json: inout JSON) {
    json.object { json in
      json.member("kind", entry.kind.rawValue)
      json.member("type", number(entry.typeName))
      if let name = entry.name { json.member("name", number(name)) }
      if let className = entry.className { json.member("class", number(className)) }
      if let site = entry.site { json.member("site", number(site)) }
      if let removed = entry.removed {
        json.member("removed", if: true)
        json.member("alive", if: removed.isAlive)
        if let file = removed.endFileID { json.member("end", number("\(file):\(removed.endLine ?? 0)")) }
      }
      guard let provider = entry.provider else { return }
      json.member("lifetime", number(provider.lifetime))
      if let failure = provider.lastFailure { json.member("failure", number(failure)) }
      if let duration = provider.lastDuration { json.member("nanoseconds", duration.nanoseconds) }
      guard !provider.argumentTypes.isEmpty else { return }
      json.key("arguments")
      json.array(provider.argumentTypes) { $0.value(number($1)) }
    }
  }

  /// Writes that an object or provider needs a dependency. Each of the two is written as the place of an entry,
  /// `[context, entry]`, or as its texts if it is not in the tree.
  private mutating func write(_ use: UDISnapshot.Use, to json: inout JSON) {
    let dependent = snapshot.dependents[use.dependent]
    json.object { json in
      json.key("from")
      if let object = objects[use.dependent], let context = dependent.context {
        json.array([context, object]) { $0.value($1) }
      } else if let entry = dependent.entries.first {
        writePlace(of: entry, to: &json)
      } else {
        writeOutside(dependent.typeName, dependent.name, dependent.fullPath, to: &json)
      }
      json.key("to")
      if let entry = use.entry {
        writePlace(of: entry, to: &json)
      } else {
        writeOutside(use.typeName, use.name, use.fullPath, to: &json)
      }
    }
  }

  private func writePlace(of entry: UDISnapshot.Entry, to json: inout JSON) {
    let context = snapshot.contexts[entry.context]
    let before =
      switch entry.kind {
      case .override: 0
      case .binding: context.overrides.count
      case .provider: context.overrides.count + context.bindings.count
      }
    json.array([entry.context, before + entry.index]) { $0.value($1) }
  }

  private mutating func writeOutside(_ typeName: String, _ name: String?, _ path: [String]?, to json: inout JSON) {
    json.object { json in
      json.member("type", number(typeName))
      if let name { json.member("name", number(name)) }
      guard let path else { return }
      json.key("path")
      json.array(path) { $0.value($1) }
    }
  }

  /// Returns the index of a text in `texts`, after adding the text if it is new.
  private mutating func number(_ text: String) -> Int {
    if let number = numbers[text] { return number }
    numbers[text] = texts.count
    texts.append(text)
    return texts.count - 1
  }
}

extension Duration {
  /// The duration in nanoseconds; `Int.max` if it is too long.
  fileprivate var nanoseconds: Int {
    let (seconds, rest) = components
    let (product, isTooLong) = Int(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isStillTooLong) = product.addingReportingOverflow(Int(rest / 1_000_000_000))
    return isTooLong || isStillTooLong ? .max : sum
  }
}

/// Returns a hash of a text, which is the same in every process: FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv).
private func hash(_ text: String) -> String {
  let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  return String(hash, radix: 16)
}
