/// The contexts that a lookup visits, and the entries that it comes across there. A survey is made under the tree lock.
/// The cause is found later, without the lock, because finding it runs user code: objects are cast.
struct Survey {
  /// A sighting, and the path of the context where it was made.
  typealias Place = (path: [String], sighting: Sighting)

  let key: KeyIdentity
  let search: UDISearch
  /// The path of the context where the lookup begins; empty if the survey visits no context.
  private(set) var start: [String] = []
  /// Whether the lookup goes upwards because it begins in a context that was given to a running factory.
  private(set) var isInFactory = false
  /// Whether one of the factories that run on this thread or task makes an instance that a provider keeps.
  private(set) var makesWhatIsKept = false
  /// Whether the lookup begins in a branch that has been taken out of a tree.
  private(set) var isRemoved = false
  /// Whether the context where the lookup begins is closed, or is being closed.
  private(set) var isClosed = false
  /// The contexts to list, in search order.
  private(set) var contexts: [(path: [String], sightings: [Sighting])] = []
  /// The number of contexts that are not listed because they have nothing relevant.
  private(set) var emptyCount = 0
  /// The number of contexts that have something relevant, but are not listed because there are too many.
  private(set) var omittedCount = 0
  private(set) var isAbridged = false
  private(set) var answer: Place?
  private(set) var equallyNear: [Place] = []
  private(set) var equallyNearCount = 0
  private(set) var outside: Place?
  /// The path of the scope that contains `outside`, if the lookup finds nothing because it does not look into this
  /// scope.
  private(set) var scopePath: [String]?
  /// Dependencies that are registered under other types. One of them might also be of the requested type.
  private(set) var candidates: [Place] = []
  /// The first objects and providers that have looked up the dependency, in the order of their lookups.
  private(set) var dependents: [DependentSighting] = []
  /// The number of all objects and providers that have looked up the dependency.
  private(set) var dependentCount = 0
  /// Keeps the objects in the survey alive. It may by now hold the last references to them.
  private var garbage = Garbage()

  /// While fewer contexts than this are listed, contexts that have nothing relevant are listed, too, to show the order
  /// of the search. Also the maximum number of equally near places that are listed.
  private static var shownInOrder: Int { 12 }
  /// The maximum number of contexts that are listed.
  private static var enough: Int { 100 }
  /// The maximum number of candidates under other types that are collected.
  private static var enoughCandidates: Int { 32 }
  /// The maximum number of records of removed bindings that are listed for one context.
  private static var enoughRecords: Int { 3 }
  /// The maximum number of dependents that are listed.
  private static var enoughDependents: Int { 12 }

  /// Makes a survey that visits no context.
  init(_ key: KeyIdentity, _ search: UDISearch) {
    self.key = key
    self.search = search
  }

  /// Visits the contexts that a lookup visits, up to its answer, and the places that are as near as the answer. If
  /// there is no answer, looks for the nearest place that has the dependency. Call this under the tree lock.
  ///
  /// - Parameter limit: The maximum number of contexts to visit.
  init(_ key: KeyIdentity, from first: Node, _ search: UDISearch?, limit: Int) {
    self.init(key, first.direction(of: search))
    start = first.fullPath
    isClosed = first.treeLocked.state.isEnding
    isInFactory = search == nil && first.isHandedToFactory
    if isInFactory {
      let making =
        PerThread.resolution.read { $0.runningProviders } + [AsyncCall.current?.content?.provider].compactMap(\.self)
      makesWhatIsKept = making.contains { $0.sharing != .unique && $0.sharing != .graph }
    }
    first.visit(self.search) { branch in
      lookBelow(branch, limit: limit)
      return answer != nil || isAbridged ? () : nil
    } alone: { node in
      isAbridged = contexts.count + emptyCount + omittedCount >= limit
      if !isAbridged { look(at: node) }
      return answer != nil || isAbridged ? () : nil
    }
    if answer != nil { return }
    isRemoved = first.root.treeLocked.hasLostParent
    lookOutside(from: first, limit: limit)
  }

  /// Releases the objects in the survey. Do not call this while holding a lock.
  mutating func release() { garbage.release() }

  /// Adds the objects and providers that have looked up the dependency that the lookup finds. If the lookup finds
  /// nothing, adds those in this tree whose lookups under the key found a dependency that is gone by now. Call this
  /// under the tree lock.
  mutating func noteDependents(from first: Node, _ garbage: inout Garbage) {
    let entry = first.nearestEntry(key.id, search)?.object
    if let entry { garbage.add(entry) }
    let registered = entry?.registeredEntry
    if let registered { garbage.add(registered) }
    let root = first.root
    var known: Set<ObjectIdentifier> = []
    for use in UDIRecording.uses(of: key.id) {
      let found = use.entry
      if let found { garbage.add(found) }
      let isMeant = entry == nil ? found?.node == nil : found != nil && found === registered
      guard isMeant, let dependent = DependentSighting(of: use, &garbage) else { continue }
      if entry == nil, dependent.node?.root != root { continue }
      guard known.insert(dependent.id).inserted else { continue }
      dependentCount += 1
      if dependents.count < Self.enoughDependents { dependents.append(dependent) }
    }
  }

  /// Visits a node and all nodes below it, level by level. Stops at the end of the level on which the answer was found.
  private mutating func lookBelow(_ first: Node, limit: Int) {
    var levels: [Int] = []
    var nodes = BreadthFirst(first, entersScopes: false, limit: limit)
    while let element = nodes.next() {
      let level = element.parent.map { levels[$0] + 1 } ?? 0
      if answer != nil, level > levels.last ?? 0 { return }
      levels.append(level)
      look(at: element.node)
    }
    isAbridged = nodes.isCutShort
  }

  /// Adds one context, with its entries for the requested type and its removed bindings under the key. Collects its
  /// entries for other types as candidates.
  private mutating func look(at node: Node) {
    var sightings = sightings(of: key, at: node)
    let answering = sightings.first { !$0.isGone }
    for record in UDIRecording.records(of: key, in: node).prefix(Self.enoughRecords) {
      sightings.append(Sighting(record, of: key, &garbage))
    }
    node.shared.slots.forEach { slot in
      guard slot.state.depth == 0, let other = slot.state.best.read({ $0.key === key ? nil : $0 }) else { return }
      garbage.add(other)
      if other.key.type === key.type {
        sightings += self.sightings(of: other.key, at: node)
      } else if candidates.count < Self.enoughCandidates,
        let candidate = self.sightings(of: other.key, at: node).first(where: { !$0.isGone })
      {
        candidates.append((node.fullPath, candidate))
      }
    }
    if contexts.count < (sightings.isEmpty ? Self.shownInOrder : Self.enough) {
      contexts.append((node.fullPath, sightings))
    } else if sightings.isEmpty {
      emptyCount += 1
    } else {
      omittedCount += 1
    }
    guard let answering else { return }
    guard answer != nil else { return answer = (node.fullPath, answering) }
    equallyNearCount += 1
    if equallyNear.count < Self.shownInOrder { equallyNear.append((node.fullPath, answering)) }
  }

  /// The entries of the given node under the given key, whether their objects are alive or not.
  private mutating func sightings(of key: KeyIdentity, at node: Node) -> [Sighting] {
    var found: [Sighting] = []
    if let substitute = node.override(key.id), let instance = substitute.instance {
      found.append(Sighting(substitute, instance, &garbage))
    }
    if let binding = node.ownBinding(key) { found.append(Sighting(binding, &garbage)) }
    if let provider = node.provider(key.id) { found.append(Sighting(provider, &garbage)) }
    return found
  }

  /// Looks for the nearest place that has something under the key, after the search itself has found nothing. Looks
  /// downwards from the first node, unless the search has already done so; then downwards from the node's parent, and
  /// so on. At each step, places outside scopes take precedence over places in scopes.
  ///
  /// - Parameter limit: The maximum number of contexts to visit in order to find scopes.
  /// - Complexity: O(depth) for places outside scopes. O(contexts) for places in scopes, because the index does not
  ///   cover them.
  private mutating func lookOutside(from first: Node, limit: Int) {
    var rest = limit
    var visited: Node?
    for node in first.andAncestors {
      if node != first || !search.looks.below { outside = nearestPlace(below: node) }
      if outside != nil { return }
      var nodes = BreadthFirst(node, except: visited, limit: rest)
      while let scope = nodes.next()?.node {
        guard scope != node, scope.treeLocked.isScope, let place = nearestPlace(below: scope) else { continue }
        outside = place
        scopePath = scope.fullPath
        return
      }
      rest = nodes.rest
      visited = node
    }
  }

  /// Returns the place that a lookup downwards finds. Like a lookup, this method withdraws entries whose objects have
  /// been released.
  private mutating func nearestPlace(below first: Node) -> Place? {
    while let entry = first.shared.slots.find(key.id)?.element.state.best.object {
      garbage.add(entry)
      if let node = entry.node, let sighting = sightings(of: key, at: node).first(where: { !$0.isGone }) {
        return (node.fullPath, sighting)
      }
      entry.withdraw(&garbage)
      // If `withdraw` has not removed the entry, give up, because otherwise this loop would never end.
      if first.shared.slots.find(key.id)?.element.state.best.object === entry { return nil }
    }
    return nil
  }
}
