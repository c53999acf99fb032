/// A lookup whose answer is watched: a watcher's own, or one of the watcher's *needs*, which are the lookups that
/// factories make in its looks. It is entered at the nodes of its search, and knows what it has found.
class Lookout: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The key that is looked up. It is held here, so that its id cannot be given to another key.
  final let key: KeyIdentity
  /// The id under which this is entered: that of the key, or the one that stands for all keys of the type.
  final let id: UInt64
  /// If this is a need: the watcher whose need it is, which outlives it; the node where it begins, which may be gone by
  /// now and is only compared; and its direction.
  final let need: (watcher: Unretained<Watcher>, start: Node, direction: UDISearch)?
  /// The nodes where this is entered. The lookup begins at the first of them.
  final var nodes: [Node] = []
  /// What it has found, if it finds all dependencies.
  private final var all: [Finding] = []
  /// What it has found, if it finds one.
  private final var first = Finding()
  /// Whether to look up all dependencies of the type, whatever their names, and not only the first one with the name.
  final let findsAll: Bool
  /// The direction of the lookup: that of the request, or else the context's own search; `lineage` if `looksOnlyUp`.
  final var direction: UDISearch
  /// Whether a factory performs the lookup, which therefore passes over what it would find below. `direction` is then
  /// `lineage`.
  final var looksOnlyUp = false
  /// Whether the findings are to be noted when the look has ended that performs the lookup.
  final var isPending = false
  /// Whether anything has changed since the findings were noted, whoever has changed it.
  // The tree lock excludes overlapping accesses, so they are not checked ("look-needs" in `Benchmarks/instructions`).
  @safe @exclusivity(unchecked) private(set) final var isOutOfDate = true
  /// Whether the search might pass through other nodes than those where this is entered; true before it is entered.
  final var hasMoved = true { didSet { isOutOfDate = true } }

  init(
    _ key: KeyIdentity, findsAll: Bool,
    need: (watcher: Unretained<Watcher>, start: Node, direction: UDISearch)? = nil
  ) {
    id = findsAll ? key.type.idOfAllKeys : key.id
    (self.key, self.findsAll, self.need) = (key, findsAll, need)
    direction = need?.direction ?? .lineage
  }

  /// Records a change. Called under the tree lock.
  func notify(of kind: ChangeKind) {
    // What a look changes is no news for what is made of it: otherwise, two consumers might keep each other busy.
    if isNews(kind), kind == .died || !Tree.isLooking { need?.watcher.read { $0.noteChangeOfNeeds(kind) } }
  }

  /// Notes a change, and returns whether the lookup might find something else now. Called under the tree lock.
  final func isNews(_ kind: ChangeKind) -> Bool {
    isOutOfDate = true
    // If somebody else changes something during a look, the look may have found what was there before.
    if kind == .ignored || kind == .renewed || isPending && kind != .keptOnly && !Tree.isLooking { forgetFindings() }
    return kind != .ignored && (kind != .died || found.contains(where: \.wasThere))
  }
}

// MARK: - What it finds. Called under the tree lock

extension Lookout {
  private final var found: [Finding] {
    get { findsAll ? all : [first] }
    set { if findsAll { all = newValue } else { first = newValue[0] } }
  }

  /// Notes what the lookup finds when the look has ended.
  ///
  /// - Parameter made: The ids of the providers that have made in the look what they keep weakly.
  final func noteFindings(madeWeakly made: [UInt], _ garbage: inout Garbage) {
    guard isPending, let now = findings(&garbage) else { return }
    found = now.map { made.contains($0.number) ? $0.asMade : $0 }
    (isPending, isOutOfDate) = (false, false)
  }

  /// Lets the findings differ from whatever the lookup finds.
  final func forgetFindings() {
    found = [Finding(number: .max)]
    isPending = false
  }

  /// Whether the lookup finds what it found before.
  final func findsSame(_ garbage: inout Garbage) -> Bool {
    guard let now = findings(&garbage), !isPending else { return false }
    return now.count == found.count && zip(found, now).allSatisfy { $0.isSame(as: $1) }
  }

  private final func findings(_ garbage: inout Garbage) -> [Finding]? {
    guard let start = nodes.first else { return nil }
    if hasMoved { start.enter(self) }
    if let key = key as? ScopeKey {
      let scope = sequence(first: start) { $0.shared.parent }.first {
        $0.treeLocked.isScope && key.scopeKind ?? $0.scopeKind == $0.scopeKind
      }
      return [scope.map { Finding($0, $0.provider(key.id)?.kept?.object) } ?? Finding()]
    }
    let search = looksOnlyUp ? .ancestors : direction
    if findsAll {
      return start.entries(under: start.keyIDs(of: key.type, search), search).map { Finding($0.object, &garbage) }
    }
    return [start.nearestEntry(key.id, search).map { Finding($0.object, &garbage) } ?? Finding()]
  }
}

/// What a lookup has found, or what stands for it if it had to be made.
struct Finding {
  /// The id of the provider; for a binding, that of the key, and for a scope, the node's address; 0 for nothing.
  let number: UInt
  /// The address of the instance; 0 if there was none.
  private let address: UInt
  /// The instance, if it is held weakly: another object could have its address by now. What a provider owns is not
  /// replaced without a notice (`Lookout.isNews`), and a weak reference would make all its references slower.
  private weak var object: AnyObject?
  private let isOwned: Bool
  /// Whether the instance was there already, or is owned, so that it is missed when it goes. What a look has made, and
  /// holds weakly, is not missed: the look would make it again and again.
  private(set) var wasThere: Bool

  /// - Parameter isOwned: Whether a provider owns the instance.
  init(number: UInt = 0, _ object: AnyObject? = nil, isOwned: Bool = false) {
    (self.number, self.isOwned, self.object) = (number, isOwned, isOwned ? nil : object)
    address = object.map { Unretained($0).address } ?? 0
    wasThere = object != nil || number == .max
  }

  /// What a scope keeps.
  init(_ scope: Node, _ object: AnyObject?) {
    self.init(number: unsafe UInt(bitPattern: scope.address), object, isOwned: true)
  }

  init(_ entry: Entry, _ garbage: inout Garbage) {
    if let provider = entry as? Provider {
      self.init(number: provider.id)
    } else if let made = entry as? InstanceEntry {
      let isOwned = made.kind != .observed
      self.init(number: made.maker.id, isOwned ? made.owned : made.liveObject(&garbage), isOwned: isOwned)
    } else {
      self.init(number: UInt(truncatingIfNeeded: entry.keyID), entry.liveObject(&garbage))
      if entry.comesFromLook { wasThere = false }
    }
  }

  /// The same for an instance that the look has made, and that is held weakly.
  var asMade: Finding {
    var made = self
    made.wasThere = false
    return made
  }

  /// Whether this stands for the same answer as what is found now. What had to be made, and is not kept, is the same if
  /// the same provider makes it.
  func isSame(as now: Finding) -> Bool {
    if number != now.number { return false }
    if now.address == 0 { return !wasThere }
    // If the object at the address is alive, the garbage holds it, or what keeps it does.
    return address == now.address && (isOwned || object != nil)
  }
}
