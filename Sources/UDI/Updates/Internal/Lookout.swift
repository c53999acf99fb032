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
  /// What it has found. `others` is nil if it finds only one dependency, and comes first, because that saves 16 bytes.
  @safe @exclusivity(unchecked) private final var found: Findings = (nil, Finding())
  /// Whether to look up all dependencies of the type, whatever their names, and not only the first one with the name.
  final let findsAll: Bool
  /// The direction of the lookup: that of the request, or else the context's own search; `lineage` if `looksOnlyUp`.
  final var direction: UDISearch
  /// Whether this is entered, at `start` and at `nodesAbove`.
  @safe @exclusivity(unchecked) final var isEntered = false
  /// Whether a factory performs the lookup, which therefore passes over everything below. `direction` is then
  /// `lineage`.
  final var looksOnlyUp = false
  /// Whether the lookup is part of a look that has not ended yet. When the look ends, the findings are noted again if
  /// anything has changed. If somebody else has changed something meanwhile, they are forgotten instead.
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

  /// Whether this is the need for a key, or for all of a type, that begins at a node.
  @inline(__always)
  final func isLookup(of id: UInt64, _ direction: UDISearch, from node: Node) -> Bool {
    self.id == id && start == node && self.direction == direction
  }

  /// Changes the number of lookups that follow all dependencies of the type. Called under the tree lock.
  final func countFollower(_ difference: Int) { unsafe key.type.followers += difference }

  /// Records a change. Called under the tree lock.
  func notify(of kind: ChangeKind) {
    // A change that a look makes is no news for needs: otherwise, two consumers might keep each other busy.
    guard isNews(kind), kind <= .died || kind != .ofLook && !Tree.isLooking else { return }
    watcher?.read {
      // The watcher's own look already gets the new instance.
      if kind == .keptOnly, $0.lookingThread == currentThread() { return }
      $0.needsHaveChanged = true
      $0.note(.ignored)
    }
  }

  /// Notes a change, and returns whether the lookup might find something else now. Called under the tree lock.
  final func isNews(_ kind: ChangeKind) -> Bool {
    isOutOfDate = true
    // If somebody else changes something during a look, the look may have found the state before that change. A change
    // of the kind `keptOnly` is the look's own only if the looking thread makes it.
    let lookingThread = kind == .keptOnly ? (watcher?.object ?? self as? Watcher)?.lookingThread : nil
    let isMarked = kind == .ofLook || kind == .diedOfLook
    let isOfLook = isMarked || lookingThread == currentThread() || kind != .died && Tree.isLooking
    if kind == .renewed || (isPending ? !isOfLook : kind == .ignored) { forgetFindings() }
    return kind != .ignored
      && (kind > .died || found.first.mayBeMissed || found.others?.contains(where: \.mayBeMissed) == true)
  }

  // MARK: - What it finds. Called under the tree lock

  /// Notes what the lookup finds when the look has ended.
  ///
  /// - Parameter made: The ids of the providers that have made instances in the look and keep them weakly; nil if the
  ///   look considered existing instances only.
  final func noteFindings(madeWeakly made: [UInt]?, _ garbage: inout Garbage) {
    if isPending, isOutOfDate, let now = findings(madeWeakly: made) {
      discardFindings(&garbage)
      (found, isOutOfDate) = (now, false)
    }
    isPending = false
  }

  /// Lets the garbage hold the entries that have been found, which may be out of the tree by now, and must not be
  /// released under the lock.
  final func discardFindings(_ garbage: inout Garbage) {
    found.first.discard(&garbage)
    found.others?.forEach { $0.discard(&garbage) }
    found = (nil, Finding())
  }

  /// Makes the findings differ from whatever the lookup finds.
  final func forgetFindings() {
    found.first.forget()
    isPending = false
  }

  /// Whether the lookup finds what it found before.
  final func findsSame(_ garbage: inout Garbage) -> Bool {
    guard let now = findings(), !isPending else { return false }
    return found.first.isSame(as: now.first, &garbage)
      && (found.others ?? []).elementsEqual(now.others ?? []) { $0.isSame(as: $1, &garbage) }
  }

  private final func findings(madeWeakly made: [UInt]? = nil) -> Findings? {
    guard isEntered, let start else { return nil }
    if hasMoved { start.enter(self) }
    if let key = key as? ScopeKey {
      let scope = sequence(first: start) { $0.shared.parent }.first {
        $0.treeLocked.isScope && key.scopeKind ?? $0.scopeKind == $0.scopeKind
      }
      let kept = scope?.provider(key.id)?.kept?.object
      let number = scope.map { unsafe UInt(bitPattern: $0.address) } ?? 0
      return (nil, Finding(number: number, nil, kept, isMissed: kept != nil))
    }
    let search = looksOnlyUp ? .ancestors : direction
    if findsAll {
      let all = start.entries(of: key.type, search).map { $0.read { finding($0, made) } }
      return (Array(all.dropFirst()), all.first ?? Finding())
    }
    return (nil, start.nearestEntry(key.id, search).map { $0.read { finding($0, made) } } ?? Finding())
  }

  private final func finding(_ entry: Entry, _ made: [UInt]?) -> Finding {
    if entry.kind == .binding {
      return Finding(number: ~UInt(truncatingIfNeeded: entry.keyID), entry, isMissed: !entry.comesFromLook)
    }
    guard let kept = entry as? InstanceEntry else { return Finding(number: (entry as? Provider)?.maker.id ?? 0) }
    let number = kept.maker.maker.id
    // An instance that another look has made in place of one that the consumer would miss is missed, too.
    let before = found.first.number == number ? found.first : found.others?.first { $0.number == number }
    let isMissed = made.map { !$0.contains(number) } ?? (!kept.comesFromLook || before?.isMissed == true)
    return Finding(number: number, kept.owned == nil ? kept : nil, kept.owned, isMissed: isMissed)
  }
}

/// What a lookup has found: all of it, if it finds all dependencies of a type.
private typealias Findings = (others: [Finding]?, first: Finding)

/// A dependency that a lookup has found, or the provider that would have to make it.
struct Finding {
  /// The id of the provider; for a binding, that of the key, inverted, and for a scope, the node's address; 0 for
  /// nothing, and for an override.
  let number: UInt
  /// The entry, if it holds the instance weakly. It does not keep the instance alive. It tells whether the instance is
  /// still there: another one could have its address by now.
  private let entry: Entry?
  /// The address of the instance, if a provider owns it; a provider does not replace it without a notice
  /// (`Lookout.isNews`). It is `max` if the finding has been forgotten.
  private var address: UInt
  /// Whether the instance is missed when it goes. One that the look itself has made, and that is held weakly, is not:
  /// the look would make it again and again.
  let isMissed: Bool

  init(number: UInt = 0, _ entry: Entry? = nil, _ owned: AnyObject? = nil, isMissed: Bool = false) {
    (self.number, self.entry, self.isMissed) = (number, entry, isMissed)
    address = owned.map { Unretained($0).address } ?? 0
  }

  /// Makes this differ from whatever a lookup finds.
  mutating func forget() { address = .max }

  /// Whether a notice that an instance has died may be news.
  var mayBeMissed: Bool { isMissed || address == .max }

  /// Lets the garbage release the entry.
  func discard(_ garbage: inout Garbage) { if let entry { garbage.add(entry) } }

  /// Whether this stands for the same answer as the present finding. An instance that has to be made now counts as the
  /// same if the same provider would make it, and if the instance that was found is not missed.
  func isSame(as now: Finding, _ garbage: inout Garbage) -> Bool {
    if number != now.number || address == .max { return false }
    let present = now.entry?.liveObject(&garbage)
    if present == nil, now.address == 0 { return !isMissed }
    return address == now.address && (entry === now.entry || entry?.liveObject(&garbage) === present)
  }
}
