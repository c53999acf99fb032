/// What there is where a lookup looks: collected under the tree lock, and made into an explanation after it, because names describe
/// themselves and objects are cast by code of the user's.
struct Survey {
  struct Finding {
    let kind: UDIExplanation.Finding.Kind
    let key: KeyIdentity
    let site: CallSite
    var className: Any.Type?
    var provider: Provider?
    var noticed: ContinuousClock.Instant?

    /// Whether a lookup that comes to it ends there.
    var answers: Bool { kind != .dead }
  }

  struct Place {
    let path: [String]
    let finding: Finding
  }

  /// The path of the context where the lookup begins.
  let start: [String]
  let search: UDISearch
  private let key: KeyIdentity
  /// The contexts to tell of, in search order.
  private(set) var contexts: [(path: [String], findings: [Finding])] = []
  /// How many were looked at.
  private(set) var count = 0
  fileprivate(set) var isAbridged = false
  private(set) var answer: Place?
  private(set) var equallyNear: [Place] = []
  fileprivate(set) var outside: Place?
  /// Objects under other types, which may be what was meant.
  private(set) var candidates: [(object: AnyObject, place: Place)] = []

  /// As many contexts are told of in any case, to show the order.
  private static var shownInOrder: Int { 12 }
  /// As many where there is something, and as many objects of other types.
  private static var enough: Int { 1000 }

  fileprivate init(_ key: KeyIdentity, start: [String], search: UDISearch) {
    self.key = key
    self.start = start
    self.search = search
  }

  /// Notes what one context has. Under the tree lock.
  fileprivate mutating func look(at node: Node, _ garbage: inout Garbage) {
    count += 1
    var findings = node.ownFindings(key, &garbage)
    let answering = findings.first(where: \.answers)
    for death in Deaths.of(key.type, in: node).prefix(3) where death.key === key {
      findings.append(
        Finding(kind: .dead, key: death.key, site: death.site, className: death.className, noticed: death.noticed))
    }
    let path = findings.isEmpty && contexts.count >= Self.shownInOrder ? nil : node.fullPath
    node.slots.forEach { slot in
      guard slot.depth == 0, let other = slot.best.read({ $0.key === key ? nil : $0 }) else { return }
      garbage.add(other)
      if other.key.type === key.type {
        findings.append(contentsOf: node.ownFindings(other.key, &garbage))
      } else if candidates.count < Self.enough, let finding = node.ownFindings(other.key, &garbage).first,
        let object = other.presentObject
      {
        candidates.append((object, Place(path: path ?? node.fullPath, finding: finding)))
      }
    }
    if contexts.count < (findings.isEmpty ? Self.shownInOrder : Self.enough) {
      contexts.append((path ?? node.fullPath, findings))
    }
    guard let answering else { return }
    let place = Place(path: path ?? node.fullPath, finding: answering)
    if answer == nil { answer = place } else { equallyNear.append(place) }
  }
}

extension Entry {
  /// The object, if there is one already. Under the tree lock: it must not be let go of there.
  fileprivate final var presentObject: AnyObject? {
    switch kind {
    case .binding: object
    case .observed, .owned: (self as? MadeEntry)?.made?.object
    case .boxed, .provider, .graphProvider: nil
    }
  }
}

// MARK: - In the tree. Everything here runs under the tree lock

extension Node {
  /// Looks at what a lookup looks at, up to its answer, and at what is as near.
  ///
  /// - Parameter limit: At how many contexts at most.
  func survey(_ key: KeyIdentity, _ search: UDISearch?, limit: Int, _ garbage: inout Garbage) -> Survey {
    var survey = Survey(key, start: fullPath, search: search ?? self.search)
    switch survey.search {
    case .local: survey.look(at: self, &garbage)
    case .ancestors:
      var next: Node? = self
      while let node = next, survey.answer == nil {
        survey.look(at: node, &garbage)
        next = node.parent
      }
    case .descendants:
      var levels: [Int] = []
      var last = Int.max
      for element in BreadthFirst(self) {
        let level = element.parent.map { levels[$0] + 1 } ?? 0
        guard level <= last else { break }
        guard survey.count < limit else {
          survey.isAbridged = true
          break
        }
        levels.append(level)
        survey.look(at: element.node, &garbage)
        if survey.answer != nil { last = level }
      }
    }
    if survey.answer == nil { survey.outside = nearestOutside(key, &garbage) }
    return survey
  }

  /// What this node has under a key, dead or alive.
  fileprivate func ownFindings(_ key: KeyIdentity, _ garbage: inout Garbage) -> [Survey.Finding] {
    var findings: [Survey.Finding] = []
    if let binding = ownBinding(key) {
      garbage.add(binding)
      if let object = binding.object {
        findings.append(.init(kind: .live, key: key, site: binding.site, className: type(of: object)))
        garbage.add(object)
      } else {
        let className = (binding as? DetailedBinding)?.className
        findings.append(.init(kind: .dead, key: key, site: binding.site, className: className))
      }
    }
    if let provider = provider(key.id) {
      garbage.add(provider)
      let made = provider.shown?.made
      let className = made.map { $0.isBox ? provider.madeType : type(of: $0.object) }
      findings.append(
        .init(
          kind: made == nil ? .provider : .kept, key: key, site: provider.site, className: className, provider: provider
        ))
      if let made { garbage.add(made.object) }
    }
    return findings
  }

  /// The nearest place that has something under a key, where nothing is that a search from here would find: down from here, then down
  /// from the parent, and so on.
  private func nearestOutside(_ key: KeyIdentity, _ garbage: inout Garbage) -> Survey.Place? {
    var next: Node? = self
    while let node = next {
      for reference in node.bindings([key.id], .descendants) {
        guard let place = reference.read({ $0.node }) else { continue }
        if let finding = place.ownFindings(key, &garbage).first(where: \.answers) {
          return Survey.Place(path: place.fullPath, finding: finding)
        }
      }
      next = node.parent
    }
    return nil
  }
}
