/// A lookup whose answer is watched: a watcher's own, or one of the watcher's *needs*, which are the lookups that
/// factories make in its looks. It is entered at the nodes of its search, and knows what it has found.
class Lookout: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock. It also excludes overlapping accesses, which are
  // not checked ("look-needs" in `Benchmarks/instructions`).

  /// The key that is looked up. It is held here, so that its id cannot be given to another key.
  final let key: KeyIdentity
  /// The watcher whose need this is; nil if this is the watcher itself. A watcher outlives its needs.
  final let watcher: Unretained<Watcher>?
  /// The node where the lookup begins; nil before a watcher is entered. If this is not entered, the node may be gone.
  @safe @exclusivity(unchecked) final var start: Node?
  /// The other nodes where this is entered. An array that contains `start`, too, would take 48 bytes for each need.
  @safe @exclusivity(unchecked) final var nodesAbove: [Node] = []
  /// What it has found. There are no others if it finds only one dependency.
  @safe @exclusivity(unchecked) private final var found = (first: Finding(), others: [Finding]())
  /// Whether to look up all dependencies of the type, whatever their names, and not only the first one with the name.
  final let findsAll: Bool
  /// The direction of the lookup: that of the request, or else the context's own search; `lineage` if `looksOnlyUp`.
  final var direction: UDISearch
  /// Whether this is entered, at `start` and at `nodesAbove`.
  @safe @exclusivity(unchecked) final var isEntered = false
  /// Whether a factory performs the lookup, which therefore passes over what it would find below. `direction` is then
  /// `lineage`.
  final var looksOnlyUp = false
  /// Whether the lookup is part of a look that has not ended yet. When the look ends, the findings are noted again if
  /// anything has changed, unless somebody else has changed something during the look.
  @safe @exclusivity(unchecked) final var isPending = false
  /// Whether anything has changed since the findings were noted, whoever has changed it.
  @safe @exclusivity(unchecked) final var isOutOfDate = true
  /// Whether the search might pass through other nodes than those where this is entered; true before it is entered.
  @safe @exclusivity(unchecked) final var hasMoved = true { didSet { isOutOfDate = true } }

  init(
    _ key: KeyIdentity, findsAll: Bool, _ direction: UDISearch = .lineage, from start: Node? = nil,
    for watcher: Watcher? = nil
  ) {
    (self.key, self.findsAll, self.direction, self.start) = (key, findsAll, direction, start)
    self.watcher = watcher.map { Unretained($0) }
  }

  /// The id under which this is entered: that of the key, or the one that stands for all keys of the type.
  final var id: UInt64 { findsAll ? key.type.idOfAllKeys : key.id }

  /// Records a change. Called under the tree lock.
  func notify(of kind: ChangeKind) {
    // What a look changes is no news for what is made of it: otherwise, two consumers might keep each other busy.
    if isNews(kind), kind == .died || kind != .ofLook && !Tree.isLooking {
      watcher?.read { $0.noteChangeOfNeeds(kind) }
    }
  }

  /// Notes a change, and returns whether the lookup might find something else now. Called under the tree lock.
  final func isNews(_ kind: ChangeKind) -> Bool {
    isOutOfDate = true
    // If somebody else changes something during a look, the look may have found what was there before.
    let isByOthers = kind != .ofLook && kind != .keptOnly && !Tree.isLooking
    if kind == .ignored || kind == .renewed || isPending && isByOthers { forgetFindings() }
    return kind != .ignored && (kind != .died || found.first.isMissed || found.others.contains(where: \.isMissed))
  }
}

// MARK: - What it finds. Called under the tree lock

extension Lookout {
  /// Notes what the lookup finds when the look has ended.
  ///
  /// - Parameter made: The ids of the providers that have made in the look what they keep weakly; nil if the look was
  ///   only at existing instances.
  final func noteFindings(madeWeakly made: [UInt]?, _ garbage: inout Garbage) {
    if isPending, isOutOfDate, var now = findings(&garbage) {
      now.first.note(madeWeakly: made)
      for index in now.others.indices { now.others[index].note(madeWeakly: made) }
      (found, isOutOfDate) = (now, false)
    }
    isPending = false
  }

  /// Lets the findings differ from whatever the lookup finds.
  final func forgetFindings() {
    found = (.forgotten, [])
    isPending = false
  }

  /// Whether the lookup finds what it found before.
  final func findsSame(_ garbage: inout Garbage) -> Bool {
    guard let now = findings(&garbage), !isPending else { return false }
    return found.first.isSame(as: now.first) && found.others.count == now.others.count
      && zip(found.others, now.others).allSatisfy { $0.isSame(as: $1) }
  }

  private final func findings(_ garbage: inout Garbage) -> (first: Finding, others: [Finding])? {
    guard isEntered, let start else { return nil }
    if hasMoved { start.enter(self) }
    if let key = key as? ScopeKey {
      let scope = sequence(first: start) { $0.shared.parent }.first {
        $0.treeLocked.isScope && key.scopeKind ?? $0.scopeKind == $0.scopeKind
      }
      return (scope.map { Finding($0, $0.provider(key.id)?.kept?.object) } ?? Finding(), [])
    }
    let search = looksOnlyUp ? .ancestors : direction
    if findsAll {
      let all = start.entries(under: start.keyIDs(of: key.type, search), search).map { Finding($0.object, &garbage) }
      return (all.first ?? Finding(), Array(all.dropFirst()))
    }
    guard let entry = start.nearestEntry(key.id, search) else { return (Finding(), []) }
    return (Finding(entry.object, &garbage), [])
  }
}

/// What a lookup has found, or what stands for it if it had to be made.
struct Finding {
  /// The id of the provider; for a binding, that of the key, and for a scope, the node's address; 0 for nothing;
  /// `max` for what has been forgotten.
  let number: UInt
  /// The address of the instance; 0 if there was none.
  private let address: UInt
  /// The instance, if nothing owns it: another object could have its address by now. What is owned is not replaced
  /// without a notice (`Lookout.isNews`), and a weak reference would make all its references slower.
  private weak var object: AnyObject?
  private let isOwned: Bool
  /// Whether the instance is missed when it goes. What a look has made, and holds weakly, is not: the look would make
  /// it again and again.
  private(set) var isMissed: Bool
  /// Whether a look has made the instance, if its provider keeps it weakly.
  private(set) var comesFromLook = false

  /// Differs from whatever a lookup finds.
  static var forgotten: Finding { Finding(number: .max, isMissed: true) }

  /// - Parameter isOwned: Whether a provider owns the instance.
  init(number: UInt = 0, _ object: AnyObject? = nil, isOwned: Bool = false, isMissed: Bool = false) {
    (self.number, self.isOwned, self.object) = (number, isOwned, isOwned ? nil : object)
    address = object.map { Unretained($0).address } ?? 0
    self.isMissed = isMissed || object != nil
  }

  /// What a scope keeps.
  init(_ scope: Node, _ object: AnyObject?) {
    self.init(number: unsafe UInt(bitPattern: scope.address), object, isOwned: true)
  }

  init(_ entry: Entry, _ garbage: inout Garbage) {
    if let provider = entry as? Provider {
      self.init(number: provider.maker.id)
    } else if let made = entry as? InstanceEntry {
      let isOwned = made.kind != .observed
      self.init(number: made.maker.maker.id, isOwned ? made.owned : made.liveObject(&garbage), isOwned: isOwned)
      comesFromLook = made.comesFromLook
    } else {
      self.init(number: UInt(truncatingIfNeeded: entry.keyID), entry.liveObject(&garbage))
      if entry.comesFromLook { isMissed = false }
    }
  }

  /// Notes whether a look has made the instance; see `Lookout.noteFindings`.
  mutating func note(madeWeakly made: [UInt]?) { if made?.contains(number) ?? comesFromLook { isMissed = false } }

  /// Whether this stands for the same answer as what is found now. What had to be made, and is not kept, is the same if
  /// the same provider makes it.
  func isSame(as now: Finding) -> Bool {
    if number != now.number { return false }
    if now.address == 0 { return !isMissed }
    // The old instance must not be loaded, because this might be the last to hold it, under the lock; unless it is the
    // one that is found now, which the garbage holds, or what keeps it.
    return address == now.address && (isOwned || object != nil)
  }
}
