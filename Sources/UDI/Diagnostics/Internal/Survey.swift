/// What a lookup finds in the places where it looks. It is collected under the tree lock. The explanation is made from
/// it afterwards, because the descriptions of names and the casts of objects run user code.
struct Survey {
  struct Finding {
    let kind: UDIExplanation.Finding.Kind
    let key: KeyIdentity
    let site: CallSite
    /// Where the dependency may be used. This does not matter for a dead one.
    var reach = Reach.anywhere
    var objectType: Any.Type?
    var provider: Provider?
    /// How the provider's factory failed the last time.
    var failure: FactoryFailure?
    /// When the binding went, and the call that replaced or withdrew it.
    var goneSince: ContinuousClock.Instant?
    var endedBy: CallSite?
    /// Whether the object of a replaced or withdrawn binding is alive.
    var isSurvivor = false

    /// Whether the object is alive.
    var isAlive: Bool { isSurvivor || kind == .live || kind == .kept || kind == .override }

    /// Whether a lookup that reaches this finding ends there.
    var answers: Bool {
      switch kind {
      case .live, .kept, .provider, .override: true
      case .dead, .replaced, .withdrawn: false
      }
    }
  }

  struct Location {
    let path: [String]
    let finding: Finding
    /// The path of the scope that it is in, if that is why a lookup does not find it.
    var scopePath: [String]?
  }

  /// The path of the context where the lookup begins.
  let start: [String]
  let search: UDISearch
  /// Whether the lookup goes up because a factory is running.
  let isInFactory: Bool
  /// Whether the lookup begins in a branch that has been taken out of a tree.
  fileprivate(set) var isRemoved = false
  private let key: KeyIdentity
  /// The contexts to list, in search order.
  private(set) var contexts: [(path: [String], findings: [Finding])] = []
  /// How many further contexts had nothing.
  private(set) var emptyCount = 0
  /// How many further contexts had something.
  private(set) var omittedCount = 0
  fileprivate(set) var isAbridged = false
  private(set) var answer: Location?
  private(set) var equallyNear: [Location] = []
  private(set) var equallyNearCount = 0
  fileprivate(set) var outside: Location?
  /// What is registered under other types and may be what was meant.
  private(set) var candidates: [Candidate] = []

  /// An object that is registered under another type, or what a provider under another type makes.
  struct Candidate {
    let location: Location
    /// If nobody else holds the object any more, it dies with this candidate; on the main actor, if it is not
    /// `Sendable`.
    private let owner: AnyObject?
    private let isOwned: Bool
    private let madeType: Any.Type?

    fileprivate init(_ object: AnyObject, _ entry: Entry, _ location: Location) {
      self.location = location
      isOwned = entry.reach == .mainActor
      owner = isOwned ? ActorOwned(onMainActor: object) : object
      madeType = nil
    }

    fileprivate init(of madeType: Any.Type, _ location: Location) {
      self.location = location
      isOwned = false
      owner = nil
      self.madeType = madeType
    }

    /// Whether a condition holds for the object; or, if there is only a provider, whether another condition holds for
    /// the type that it makes.
    func satisfies(_ condition: (AnyObject) -> Bool, orOfType typeCondition: (Any.Type) -> Bool) -> Bool {
      if let madeType { return typeCondition(madeType) }
      guard let owner else { return false }
      return condition(isOwned ? unsafe unsafeDowncast(owner, to: ActorOwned<AnyObject>.self).value : owner)
    }
  }

  /// This many contexts are listed in any case, to show the order.
  private static var shownInOrder: Int { 12 }
  /// This many contexts are listed if they have something.
  private static var enough: Int { 100 }
  /// This many candidates under other types are collected.
  private static var enoughCandidates: Int { 32 }

  /// How many contexts were looked at.
  fileprivate var count: Int { contexts.count + emptyCount + omittedCount }

  fileprivate init(_ key: KeyIdentity, start: [String], search: UDISearch, isInFactory: Bool) {
    self.key = key
    self.start = start
    self.search = search
    self.isInFactory = isInFactory
  }

  /// Records what one context has. Under the tree lock.
  fileprivate mutating func look(at node: Node, _ garbage: inout Garbage) {
    var findings = node.ownFindings(key, &garbage)
    let answering = findings.first(where: \.answers)
    for record in RemovedBindingLog.of(key, in: node).prefix(3) {
      let survivor = record.object
      if let survivor {
        Schedule.reached(.loadedToLook)
        garbage.add(survivor, record.reach)
      }
      findings.append(Finding(record, of: key, isSurvivor: survivor != nil))
    }
    node.shared.slots.forEach { slot in
      guard slot.depth == 0, let other = slot.best.read({ $0.key === key ? nil : $0 }) else { return }
      garbage.add(other)
      if other.key.type === key.type {
        findings.append(contentsOf: node.ownFindings(other.key, &garbage))
      } else if candidates.count < Self.enoughCandidates,
        let finding = node.ownFindings(other.key, &garbage).first(where: \.answers)
      {
        let location = Location(path: node.fullPath, finding: finding)
        if let object = other.presentObject {
          candidates.append(Candidate(object, other, location))
        } else if let provider = finding.provider {
          candidates.append(Candidate(of: provider.madeType, location))
        }
      }
    }
    if contexts.count < (findings.isEmpty ? Self.shownInOrder : Self.enough) {
      contexts.append((node.fullPath, findings))
    } else if findings.isEmpty {
      emptyCount += 1
    } else {
      omittedCount += 1
    }
    guard let answering else { return }
    guard answer != nil else { return answer = Location(path: node.fullPath, finding: answering) }
    equallyNearCount += 1
    if equallyNear.count < Self.shownInOrder { equallyNear.append(Location(path: node.fullPath, finding: answering)) }
  }
}

extension Survey.Finding {
  fileprivate init(_ record: RemovedBinding, of key: KeyIdentity, isSurvivor: Bool) {
    let (kind, endedBy): (UDIExplanation.Finding.Kind, CallSite?) =
      switch record.end {
      case .died: (.dead, nil)
      case .replaced(let site): (.replaced, site)
      case .withdrawn(let site): (.withdrawn, site)
      }
    self.init(
      kind: kind, key: key, site: record.site, objectType: record.objectType, goneSince: record.time, endedBy: endedBy,
      isSurvivor: isSurvivor)
  }
}

extension Entry {
  /// The object, if there is one already. Under the tree lock: the object must not be released there.
  fileprivate final var presentObject: AnyObject? {
    switch kind {
    case .binding: object
    case .observed, .owned: (self as? InstanceEntry)?.instance?.object
    case .boxed, .setUp, .provider, .graphProvider: nil
    }
  }
}

// MARK: - In the tree. Everything here runs under the tree lock

extension Node {
  /// Looks at the contexts that a lookup visits, up to its answer, and at places that are as near as the answer.
  ///
  /// - Parameter limit: The maximum number of contexts to look at.
  func survey(_ key: KeyIdentity, _ search: UDISearch?, limit: Int, _ garbage: inout Garbage) -> Survey {
    let isInFactory = search == nil && isHandedToFactory
    var survey = Survey(key, start: fullPath, search: direction(of: search), isInFactory: isInFactory)
    func isEnded() -> Void? { survey.answer != nil || survey.isAbridged ? () : nil }
    visit(survey.search) { branch in
      branch.lookBelow(&survey, limit: limit, &garbage)
      return isEnded()
    } alone: { node in
      if survey.count < limit { survey.look(at: node, &garbage) } else { survey.isAbridged = true }
      return isEnded()
    }
    if survey.answer == nil {
      survey.isRemoved = root.treeLocked.hasLostParent
      survey.outside = nearestOutside(key, survey.search, limit: limit, &garbage)
    }
    return survey
  }

  /// Looks at this node and all nodes below it, level by level, to the end of the level with the answer.
  private func lookBelow(_ survey: inout Survey, limit: Int, _ garbage: inout Garbage) {
    var levels: [Int] = []
    var nodes = BreadthFirst(self, entersScopes: false, limit: limit)
    while let element = nodes.next() {
      let level = element.parent.map { levels[$0] + 1 } ?? 0
      if survey.answer != nil, level > levels.last ?? 0 { return }
      levels.append(level)
      survey.look(at: element.node, &garbage)
    }
    survey.isAbridged = nodes.rest == 0
  }

  /// What this node has under a key, dead or alive.
  fileprivate func ownFindings(_ key: KeyIdentity, _ garbage: inout Garbage) -> [Survey.Finding] {
    var findings: [Survey.Finding] = []
    if let substitute = override(key.id), let instance = substitute.instance {
      garbage.add(instance.object, of: substitute)
      let madeType = instance.isBox ? substitute.maker.madeType : type(of: instance.object)
      findings.append(
        .init(kind: .override, key: key, site: substitute.site, reach: substitute.reach, objectType: madeType))
    }
    if let binding = ownBinding(key) {
      garbage.add(binding)
      if let object = binding.object {
        findings.append(
          .init(kind: .live, key: key, site: binding.site, reach: binding.reach, objectType: type(of: object)))
        Schedule.reached(.loadedToLook)
        garbage.add(object, of: binding)
      } else {
        let objectType = (binding as? DetailedBinding)?.objectType
        findings.append(.init(kind: .dead, key: key, site: binding.site, objectType: objectType))
      }
    }
    if let provider = provider(key.id) {
      garbage.add(provider)
      let instance = provider.shown?.instance
      let madeType = instance.map { $0.isBox ? provider.madeType : type(of: $0.object) }
      findings.append(
        .init(
          kind: instance == nil ? .provider : .kept, key: key, site: provider.site, reach: provider.reach,
          objectType: madeType,
          provider: provider, failure: provider.failure))
      if let instance {
        Schedule.reached(.loadedToLook)
        garbage.add(instance.object, of: provider)
      }
    }
    return findings
  }

  /// The nearest location that has something under a key, if a search from here finds nothing. This looks downwards
  /// from here, unless the search did that, then downwards from the parent, and so on. At each step, what is in scopes
  /// comes after what is not.
  ///
  /// - Parameter limit: The maximum number of contexts to look at for scopes.
  /// - Complexity: O(depth), and O(contexts) for scopes, which the index does not cover.
  private func nearestOutside(
    _ key: KeyIdentity, _ search: UDISearch, limit: Int, _ garbage: inout Garbage
  ) -> Survey.Location? {
    var rest = limit
    var visited: Node?
    for node in andAncestors {
      if node != self || !search.looks.below, let location = node.nearestLocation(key, &garbage) { return location }
      var nodes = BreadthFirst(node, except: visited, limit: rest)
      while let element = nodes.next() {
        guard element.node != node, element.node.treeLocked.isScope else { continue }
        guard var location = element.node.nearestLocation(key, &garbage) else { continue }
        location.scopePath = element.node.fullPath
        return location
      }
      rest = nodes.rest
      visited = node
    }
    return nil
  }

  /// The location of what a lookup downwards finds. Dead entries that this finds are withdrawn, as by a lookup.
  private func nearestLocation(_ key: KeyIdentity, _ garbage: inout Garbage) -> Survey.Location? {
    while let entry = shared.slots.find(key.id)?.element.best.object {
      garbage.add(entry)
      if let node = entry.node, let finding = node.ownFindings(key, &garbage).first(where: \.answers) {
        return Survey.Location(path: node.fullPath, finding: finding)
      }
      entry.withdraw(&garbage)
      // An entry that `withdraw` does not remove would keep this loop going for ever.
      if shared.slots.find(key.id)?.element.best.object === entry { return nil }
    }
    return nil
  }
}
