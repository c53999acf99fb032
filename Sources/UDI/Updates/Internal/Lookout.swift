/// A lookup whose answer is watched: a watcher's own, or one of the watcher's *needs*, which are the lookups that
/// factories make in its looks. It is entered at the nodes of its search, and knows what it has found.
class Lookout: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The key that is looked up. It is held here, so that its id cannot be given to another key.
  final let key: KeyIdentity
  /// The id under which this is entered: that of the key, or the one that stands for all keys of the type.
  final let id: UInt64
  /// The watcher whose need this is; nil if this is the watcher itself. A watcher outlives its needs.
  private final let watcher: Unretained<Watcher>?
  /// If this is a need: the node where it begins, which may be gone by now and is only compared, and its direction.
  final let need: (start: Node, direction: UDISearch)?
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
  /// Whether anything has changed since the findings were noted, whoever has changed it.
  // The tree lock excludes overlapping accesses, so they are not checked ("look-needs" in `Benchmarks/instructions`).
  @safe @exclusivity(unchecked) private(set) final var isOutOfDate = true
  /// Whether the search might pass through other nodes than those where this is entered; true before it is entered.
  final var hasMoved = true { didSet { isOutOfDate = true } }

  init(
    _ key: KeyIdentity, findsAll: Bool, for watcher: Watcher? = nil, _ need: (start: Node, direction: UDISearch)? = nil
  ) {
    id = findsAll ? key.type.idOfAllKeys : key.id
    (self.key, self.findsAll, self.need) = (key, findsAll, need)
    direction = need?.direction ?? .lineage
    self.watcher = watcher.map { Unretained($0) }
  }

  /// Records a change. Called under the tree lock.
  func notify(of kind: ChangeKind) {
    // What a look changes is no news for what is made of it: otherwise, two consumers might keep each other busy.
    if isNews(kind), kind == .died || !Tree.isLooking { watcher?.read { $0.noteChangeOfNeeds(kind) } }
  }

  /// Notes a change, and returns whether the lookup might find something else now. Called under the tree lock.
  final func isNews(_ kind: ChangeKind) -> Bool {
    isOutOfDate = true
    if kind == .ignored || kind == .renewed { forgetFindings() }
    return kind != .ignored && (kind != .died || found.contains(where: \.wasThere))
  }
}

// MARK: - What it finds. Called under the tree lock

extension Lookout {
  private final var found: [Finding] {
    get { findsAll ? all : [first] }
    set { if findsAll { all = newValue } else { first = newValue[0] } }
  }

  /// Notes what the lookup finds.
  ///
  /// - Parameter made: The ids of the providers that have made in the look what they keep weakly.
  /// - Returns: Whether something of it has to be made, and is then kept.
  @discardableResult
  final func noteFindings(madeWeakly made: [UInt], _ garbage: inout Garbage) -> Bool {
    guard let start = nodes.first else { return false }
    found = findings(from: start, &garbage).map { made.contains($0.number) ? $0.asMade : $0 }
    isOutOfDate = false
    return found.contains(where: \.isUnmade)
  }

  /// Lets the findings differ from whatever the lookup finds.
  final func forgetFindings() { found = [Finding(number: .max)] }

  /// If what was found had to be made, and is kept, notes what has been made.
  final func noteMade(_ garbage: inout Garbage) {
    guard found.contains(where: \.isUnmade), let start = nodes.first else { return }
    let now = findings(from: start, &garbage)
    if now.count == found.count { found = zip(found, now).map { $0.isUnmade ? $1.asMade : $0 } }
  }

  /// Whether the lookup finds what it found before.
  final func findsSame(_ garbage: inout Garbage) -> Bool {
    guard let start = nodes.first else { return false }
    if hasMoved { start.enter(self) }
    let now = findings(from: start, &garbage)
    return now.count == found.count && zip(found, now).allSatisfy { $0.isSame(as: $1) }
  }

  private final func findings(from start: Node, _ garbage: inout Garbage) -> [Finding] {
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
  /// The address of the instance; 0 if it had to be made.
  private let address: UInt
  /// The instance, if it is held weakly: another object could have its address by now. What a provider owns is not
  /// replaced without a notice (`Lookout.isNews`), and a weak reference would make all its references slower.
  private weak var object: AnyObject?
  private let isOwned: Bool
  /// Whether the instance had to be made, and is then kept.
  let isUnmade: Bool
  /// Whether the instance was there already, or is owned, so that it is missed when it goes. What a look has made, and
  /// holds weakly, is not missed: the look would make it again and again.
  private(set) var wasThere: Bool

  /// - Parameters:
  ///   - keeps: Whether what has to be made is kept.
  ///   - isOwned: Whether a provider owns the instance.
  init(number: UInt = 0, _ object: AnyObject? = nil, keeps: Bool = false, isOwned: Bool = false) {
    (self.number, self.isOwned, self.object) = (number, isOwned, isOwned ? nil : object)
    address = object.map { Unretained($0).address } ?? 0
    (isUnmade, wasThere) = (keeps && object == nil, object != nil)
  }

  /// What a scope keeps.
  init(_ scope: Node, _ object: AnyObject?) {
    self.init(number: unsafe UInt(bitPattern: scope.address), object, keeps: true, isOwned: true)
  }

  init(_ entry: Entry, _ garbage: inout Garbage) {
    if let provider = entry as? Provider {
      self.init(number: provider.id, keeps: provider.keeps)
    } else if let made = entry as? InstanceEntry {
      let isOwned = made.kind != .observed
      let object = isOwned ? made.owned : made.liveObject(&garbage)
      self.init(number: made.maker.id, object, keeps: true, isOwned: isOwned)
    } else {
      self.init(number: UInt(truncatingIfNeeded: entry.keyID), entry.liveObject(&garbage))
    }
  }

  /// The same for an instance that the look has made.
  var asMade: Finding {
    var made = self
    made.wasThere = isOwned && address != 0
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
