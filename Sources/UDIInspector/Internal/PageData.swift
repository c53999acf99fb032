import UDI

/// The data of the page: a snapshot in a compact form. Each text is written only once, because the same few types occur
/// again and again in a tree of thousands of contexts.
struct PageData {
  private let snapshot: UDISnapshot
  /// The tags of the contexts from the root to the first context, both included.
  private let path: [String]
  /// For each context, the objects that have looked something up and have no entry of their own: their indices in the
  /// snapshot's `dependents`. The page shows them after the context's entries and removed bindings.
  private let objects: [[Int]]
  private var texts: [String] = []
  private var numbers: [String: Int] = [:]

  init(_ context: UDIContext) {
    snapshot = context.snapshot()
    path = context.fullPath
    var objects: [[Int]] = Array(repeating: [], count: snapshot.contexts.count)
    for (index, dependent) in snapshot.dependents.enumerated() where dependent.entries.isEmpty {
      if !dependent.isProvider, let context = dependent.context { objects[context].append(index) }
    }
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
      let all = snapshot.contexts.map(\.entries).joined()
      json.member("contexts", snapshot.contexts.count)
      json.member("live", all.count { $0.kind == .live })
      json.member("dead", (all + snapshot.contexts.flatMap(\.removedBindings)).count { $0.kind == .dead })
      json.member("providers", all.count(where: \.isProvider))
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
      if context.entries.isEmpty, context.removedBindings.isEmpty, objects[index].isEmpty { return }
      json.key("entries")
      json.array { json in
        for entry in context.entries { write(entry, to: &json) }
        for entry in context.removedBindings { write(entry, isRemoved: true, to: &json) }
        for object in objects[index] {
          json.object { json in
            json.member("kind", "object")
            json.member("type", number(snapshot.dependents[object].typeName))
          }
        }
      }
    }
  }

  private mutating func write(_ entry: UDIEntry, isRemoved: Bool = false, to json: inout JSON) {
    json.object { json in
      json.member("kind", entry.kind.rawValue)
      json.member("type", number(entry.typeName))
      if let name = entry.name { json.member("name", number(name)) }
      if let className = entry.className { json.member("class", number(className)) }
      json.member("site", number(entry.site))
      json.member("removed", if: isRemoved)
      json.member("alive", if: isRemoved && entry.isAlive)
      if let file = entry.endFileID { json.member("end", number("\(file):\(entry.endLine ?? 0)")) }
      if let lifetime = entry.lifetime { json.member("lifetime", number(lifetime)) }
      if let failure = entry.failure { json.member("failure", number(failure.message)) }
      if let duration = entry.lastDuration { json.member("nanoseconds", duration.nanoseconds) }
      guard !entry.argumentTypes.isEmpty else { return }
      json.key("arguments")
      json.array(entry.argumentTypes) { $0.value(number($1)) }
    }
  }

  /// Writes that an object or provider needs a dependency. Each of the two is written as the place of an entry,
  /// `[context, entry]`, or as its texts if it is not in the tree.
  private mutating func write(_ use: UDISnapshot.Use, to json: inout JSON) {
    let dependent = snapshot.dependents[use.dependent]
    json.object { json in
      json.key("from")
      if let place = place(of: use.dependent) {
        json.array(place) { $0.value($1) }
      } else {
        writeOutside(dependent.typeName, dependent.name, dependent.fullPath, to: &json)
      }
      json.key("to")
      if let entry = use.entry {
        json.array([entry.context, entry.index]) { $0.value($1) }
      } else {
        writeOutside(use.typeName, use.name, use.fullPath, to: &json)
      }
    }
  }

  /// The place of a dependent's entry on the page; nil if it has none.
  private func place(of index: Int) -> [Int]? {
    let dependent = snapshot.dependents[index]
    if let entry = dependent.entries.first { return [entry.context, entry.index] }
    guard let number = dependent.context, let place = objects[number].firstIndex(of: index) else { return nil }
    let context = snapshot.contexts[number]
    return [number, context.entries.count + context.removedBindings.count + place]
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
