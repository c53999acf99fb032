/// An explanation that is being made: the contexts that a lookup visits, and the entries that it comes across there. A
/// survey is made under the tree lock. The cause is found later, without the lock, because finding it runs user code:
/// objects are cast.
final class Survey {
  /// An entry, its object if that is alive, and both as a place.
  typealias Found = (source: Entry, object: Unretained<AnyObject>?, place: UDIExplanation.Place)

  private let key: KeyIdentity
  /// The explanation. Its cause is that nothing is registered, unless another cause is certain already.
  private(set) var explanation: UDIExplanation
  private(set) var answer: Found?
  /// Dependencies that are registered under other types. One of them might also be of the requested type.
  private(set) var candidates: [Found] = []
  /// How many dependencies with other names may still be listed.
  private var roomForOthers = 10
  /// Keeps the objects in the survey alive. It may by now hold the last references to them.
  private var garbage = Garbage()

  /// While fewer contexts than this are listed, contexts that have nothing relevant are listed, too, to show the order
  /// of the search.
  private static var shownInOrder: Int { 12 }
  /// The maximum number of candidates under other types that are collected.
  private static var enoughCandidates: Int { 32 }

  /// Visits the contexts that a lookup visits, up to its answer, and the places that are as near as the answer. If
  /// there is no answer, looks for the nearest place that has the dependency. Call this under the tree lock.
  ///
  /// - Parameter limit: The maximum number of contexts to visit.
  init(_ key: KeyIdentity, from first: Node, _ search: UDISearch?, limit: Int) {
    self.key = key
    explanation = UDIExplanation(
      key.type.firstType, named: key.name, search: first.direction(of: search), cause: .notRegistered)
    explanation.fullPath = first.fullPath
    explanation.isInFactory = search == nil && first.isHandedToFactory
    first.visit(explanation.search) { branch in
      addBranch(branch, limit: limit)
      return answer != nil || explanation.isAbridged || branch.hadKey(key.id) ? () : nil
    } alone: { node in
      explanation.isAbridged = explanation.contexts.count + explanation.omittedCount >= limit
      if !explanation.isAbridged { add(node) }
      return answer != nil || explanation.isAbridged || node.hadKey(key.id) ? () : nil
    }
    if limit == .max { noteDependents(from: first) }
    // For a provider with the lifetime `.scope`, its keeper for the nearest scope answers.
    if let provider = answer?.source as? Provider, provider.sharing == .scope {
      let (scope, cause) = provider.owner(around: first)
      let keeper = scope?.keeper(of: provider.maker)
      if let scope, let keeper { answer = found(keeper, at: scope) } else if let cause { explanation.cause = cause }
    }
    if answer != nil { return }
    if first.root.treeLocked.hasLostParent { explanation.cause = .contextRemoved }
    findOutside(from: first, limit: limit)
    if let path = first.endingPath { explanation.cause = .contextClosed(fullPath: path) }
  }

  /// Releases the objects in the survey. Do not call this while holding a lock.
  func release() { garbage.release() }

  /// Adds the objects and providers that have looked up the dependency that the lookup finds. If the lookup finds
  /// nothing, adds those in this tree whose lookups under the key found a dependency that is gone by now.
  private func noteDependents(from first: Node) {
    let wanted = answer.map { Unretained($0.source).address }
    let tree = wanted == nil ? Set(BreadthFirst(first.root).map(\.node)) : []
    var known: Set<ObjectIdentifier> = []
    let uses = UDIRecording.uses { use in
      use.key === key && (wanted.map { $0 == use.entryAddress } ?? tree.contains(use.node))
    }
    for use in uses {
      let found = use.found(&garbage)
      let isGone = found.map { $0.node == nil || $0.sighted(&garbage).entry.isGone } ?? true
      guard answer.map({ $0.source === found }) ?? isGone, let seen = use.sighting(&garbage) else { continue }
      if known.insert(seen.id).inserted { explanation.dependents.append(seen.dependent) }
    }
  }

  /// Visits a node and all nodes below it that are not in scopes, level by level. Stops at the end of the level on
  /// which the answer was found.
  private func addBranch(_ first: Node, limit: Int) {
    var levels: [Int] = []
    var nodes = BreadthFirst(first, entersScopes: false, limit: limit)
    while let element = nodes.next() {
      let level = element.parent.map { levels[$0] + 1 } ?? 0
      if answer != nil, level > levels.last ?? 0 { return }
      levels.append(level)
      add(element.node)
    }
    explanation.isAbridged = nodes.isCutShort
  }

  /// Adds one context, with its entries and its removed bindings under the key. If there is no answer yet, adds those
  /// of its entries under other names that were registered first, and collects its entries for other types as
  /// candidates.
  ///
  /// - Complexity: O(keys). There may be very many names, so only what is listed is described.
  private func add(_ node: Node) {
    answer = answer ?? found(under: key, at: node)
    var findings = entries(under: key, at: node).map(\.place.finding)
    for record in UDIRecording.records(of: key, in: node).reversed() { findings.append(record.entry(&garbage)) }
    var (type, others, otherCount): (TypeIdentity, [Entry], Int) = (key.type, [], 0)
    node.shared.slots.forEach { slot in
      guard answer == nil, slot.state.depth == 0 else { return }
      let other = slot.state.best.object
      if other.key.type === type {
        guard other.isThere(&garbage) else { return }
        otherCount += 1
        others.insert(other, at: others.firstIndex { other.serial < $0.serial } ?? others.count)
        if others.count > roomForOthers { others.removeLast() }
      } else if candidates.count < Self.enoughCandidates, let candidate = found(under: other.key, at: node) {
        candidates.append(candidate)
      }
    }
    let limit = findings.isEmpty && otherCount == 0 ? Self.shownInOrder : UDIExplanation.enoughContexts
    guard explanation.contexts.count < limit else { return explanation.omittedCount += 1 }
    for other in others { findings += entries(under: other.key, at: node).map(\.place.finding) }
    (roomForOthers, otherCount) = (roomForOthers - others.count, otherCount - others.count)
    explanation.contexts.append(.init(fullPath: node.fullPath, findings: findings, omittedCount: otherCount))
  }

  /// The entries of the given node under the given key, whether their objects are alive or not.
  private func entries(under key: KeyIdentity, at node: Node) -> [Found] {
    let entries: [Entry?] = [node.override(key.id), node.bindingInTable(key), node.provider(key.id)]
    return entries.compactMap(\.self).map { found($0, at: node) }
  }

  private func found(_ source: Entry, at node: Node) -> Found {
    let (entry, object) = source.sighted(&garbage)
    return (source, object.map { Unretained($0) }, .init(fullPath: node.fullPath, finding: entry))
  }

  /// The first of these entries that a lookup would find.
  private func found(under key: KeyIdentity, at node: Node) -> Found? {
    entries(under: key, at: node).first { !$0.place.finding.isGone }
  }

  /// Looks for the nearest place that has something under the key, after the search itself has found nothing. Looks
  /// downwards from the first node, unless the search has already done so; then downwards from the node's parent, and
  /// so on. At each step, places outside scopes take precedence over places in scopes.
  ///
  /// - Parameter limit: The maximum number of contexts to visit in order to find scopes.
  /// - Complexity: O(depth) for places outside scopes. O(contexts) for places in scopes, because the index does not
  ///   cover them.
  private func findOutside(from first: Node, limit: Int) {
    var rest = limit
    var visited: Node?
    for node in first.andAncestors {
      if node != first || !explanation.search.looks.below, let place = nearestPlace(below: node) {
        return (explanation.nearestOutside, explanation.cause) = (place, .outOfReach(place))
      }
      var nodes = BreadthFirst(node, except: visited, limit: rest)
      while let scope = nodes.next()?.node {
        guard scope != node, scope.treeLocked.isScope, let place = nearestPlace(below: scope) else { continue }
        return (explanation.nearestOutside, explanation.cause) = (place, .inScope(place, scopePath: scope.fullPath))
      }
      rest = nodes.rest
      visited = node
    }
  }

  /// Returns the place that a lookup downwards finds. Like a lookup, this method withdraws entries whose objects have
  /// been released.
  private func nearestPlace(below first: Node) -> UDIExplanation.Place? {
    let entry = first.nearestLiveEntry(key.id, .descendants, &garbage)
    return entry?.node.flatMap { found(under: key, at: $0)?.place }
  }
}
