/// The contents of a context as seen under the tree lock, from which a snapshot is made after the lock has been
/// released.
struct ContextSighting {
  let node: Node
  let tag: String
  /// The index of the parent among the contexts of the snapshot; nil for the first one.
  let parent: Int?
  let isScope: Bool
  let search: UDISearch
  /// The overrides, in the order in which they were made.
  let overrides: [Sighting]
  /// The bindings, in the order in which they were made.
  let bindings: [Sighting]
  /// The providers, in the order in which they were registered.
  let providers: [Sighting]
  /// The bindings that have been removed, in the order in which they were removed.
  let removed: [Removal]

  /// The record of a removed binding, and whether its object is alive.
  typealias Removal = (record: RemovedBinding, isAlive: Bool)

  init(_ node: Node, parent: Int?, _ garbage: inout Garbage) {
    self.node = node
    tag = node.tag
    self.parent = parent
    isScope = node.treeLocked.isScope
    search = node.shared.search
    var (bindings, providers): ([Binding], [Provider]) = ([], [])
    node.treeLocked.bindings.forEachEntry { bindings.append($0.binding) }
    node.treeLocked.providers.forEach { providers.append($0.provider) }
    let overrides = node.treeLocked.extras?.overrides ?? []
    self.overrides = overrides.compactMap { entry in entry.instance.map { Sighting(entry, $0, &garbage) } }
    self.bindings = bindings.sorted { $0.serial < $1.serial }.map { Sighting($0, &garbage) }
    self.providers = providers.sorted { $0.serial < $1.serial }.map { Sighting($0, &garbage) }
    removed = UDIRecording.allRecords(in: node).map { record in
      guard let object = record.object else { return (record, false) }
      garbage.add(object, record.reach)
      return (record, true)
    }
  }
}
