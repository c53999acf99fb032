import Foundation
import Testing
import UDI

/// Random operations on real trees, each answer compared with the oracle's.
///
/// The seed is printed, and `UDI_SEED` repeats a run; `UDI_OPERATIONS` sets the length of one.
@Suite struct OracleTests {
  static let environment = ProcessInfo.processInfo.environment
  static let operations = environment["UDI_OPERATIONS"].flatMap { Int($0) } ?? 240_000
  static let seed = environment["UDI_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)

  /// Small trees meet every special case often, large ones have every shape.
  @Test(arguments: [4, 12, 40, 150, 400, 1000])
  func randomOperations(maximumSize: Int) {
    let seed = Self.seed + UInt64(maximumSize)
    print("OracleTests: UDI_SEED=\(Self.seed), up to \(maximumSize) contexts")
    var run = RandomRun(seed: seed, maximumSize: maximumSize)
    for step in 0..<Self.operations / 6 {
      let operation = run.step()
      if let difference = run.difference(afterStep: step) {
        Issue.record("seed \(Self.seed), size \(maximumSize), step \(step), \(operation): \(difference)")
        return
      }
    }
    #expect(run.hits > 100 && run.misses > 100, "the run must have met both")
  }
}

private struct RandomRun {
  private var random: SplitMix
  private let maximumSize: Int
  private var oracle = Oracle(keyCount: 9)

  private var contexts: [Int: UDIContext] = [:]
  private var contextIDs: [Int] = []
  private var members: [Int: Member] = [:]
  private var plains: [Int: Plain] = [:]
  private var objectIDs: [Int] = []
  private var attachedTo: [Int: Int] = [:]
  private var nextID = 0
  private(set) var hits = 0
  private(set) var misses = 0

  init(seed: UInt64, maximumSize: Int) {
    random = SplitMix(seed: seed)
    self.maximumSize = maximumSize
    _ = makeContext(below: nil)
    for _ in 0..<4 { makeObject() }
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }

  private mutating func makeContext(below parent: Int?) -> String {
    let id = nextID
    nextID += 1
    if let parent {
      contexts[id] = try? contexts[parent]!.makeChild(tag: "\(id)")
    } else {
      contexts[id] = UDIContext(tag: "\(id)")
    }
    contextIDs.append(id)
    oracle.addContext(id, below: parent)
    return "make \(id) below \(parent.map(String.init) ?? "nothing")"
  }

  private mutating func makeObject() {
    let id = nextID
    nextID += 1
    if Bool.random(using: &random) { members[id] = Member("\(id)") } else { plains[id] = Plain("\(id)") }
    objectIDs.append(id)
    oracle.addObject(id)
  }

  /// Makes one random change and says what it was.
  mutating func step() -> String {
    let (context, key) = (pick(contextIDs), Int.random(in: 0..<9, using: &random))
    switch Int.random(in: 0..<112, using: &random) {
    case 0..<14 where contextIDs.count < maximumSize:
      return makeContext(below: Int.random(in: 0..<40, using: &random) == 0 ? nil : context)
    case 14..<26:
      let target = pick(contextIDs)
      if oracle.ancestors(target).contains(context) {
        do {
          try contexts[target]!.addChild(contexts[context]!)
          return "the cycle \(context) below \(target) was not refused"
        } catch { return "refuse \(context) below \(target)" }
      }
      try? contexts[target]!.addChild(contexts[context]!)
      oracle.move(context, below: target)
      return "move \(context) below \(target)"
    case 26..<29:
      contexts[context]!.removeFromParent()
      oracle.remove(context)
      return "remove \(context)"
    case 29..<31:
      return discard(context)
    case 31..<46:
      let object = pick(objectIDs)
      bindInContext(object, key, context, isMulti: Bool.random(using: &random))
      return "bind \(object) under \(key) in \(context)"
    case 46..<60:
      return bindByMember(key)
    case 60..<65:
      contexts[context]!.unbind(key)
      oracle.unbind(key, in: context)
      return "unbind \(key) in \(context)"
    case 65..<70:
      guard let member = members.keys.sorted().randomElement(using: &random) else { return "nothing" }
      members[member]!.unbind(key)
      oracle.unbind(key, by: member)
      return "unbind \(key) by \(member)"
    case 70..<80:
      guard let member = members.keys.sorted().randomElement(using: &random) else { return "nothing" }
      let target = Int.random(in: 0..<4, using: &random) == 0 ? nil : context
      members[member]!.attachedContext = target.map { contexts[$0]! }
      attachedTo[member] = target
      oracle.attach(member, toNothing: target == nil)
      return "attach \(member) to \(target.map(String.init) ?? "nothing")"
    case 100..<106:
      return register(key, in: context)
    case 106..<108:
      contexts[context]!.unregister(key)
      oracle.unregister(key, in: context)
      return "unregister \(key) in \(context)"
    case 108..<112:
      // Changes what is kept, not what answers.
      contexts[context]!.reset()
      return "reset \(context)"
    case 80..<90 where objectIDs.count > 3:
      let object = objectIDs.remove(at: Int.random(in: objectIDs.indices, using: &random))
      members[object] = nil
      plains[object] = nil
      attachedTo[object] = nil
      oracle.release(object)
      return "release \(object)"
    default:
      if objectIDs.count < max(8, maximumSize / 2) { makeObject() }
      return "make an object"
    }
  }

  private mutating func register(_ key: Int, in context: Int) -> String {
    let id = nextID
    nextID += 1
    let lifetime = pick([UDILifetime.unique, .graph, .weak, .context])
    contexts[context]!.register(key, lifetime) { Plain("\(id)") }
    oracle.register(id, key, in: context)
    return "register \(id) under \(key) in \(context), \(lifetime)"
  }

  private mutating func discard(_ context: Int) -> String {
    let branch = oracle.branch(context)
    guard branch.count < contextIDs.count, branch.count < 30 else { return "nothing" }
    // An attached object holds its context: let go of those first.
    for (member, place) in attachedTo where branch.contains(place) {
      members[member]!.attachedContext = nil
      attachedTo[member] = nil
      oracle.attach(member, toNothing: true)
    }
    contexts[context]!.removeFromParent()
    for id in branch { contexts[id] = nil }
    contextIDs.removeAll { branch.contains($0) }
    oracle.discard(branch)
    return "discard \(branch)"
  }

  private mutating func bindInContext(_ object: Int, _ key: Int, _ context: Int, isMulti: Bool) {
    if let member = members[object] {
      contexts[context]!.bind(member, key, isMulti: isMulti)
    } else if let plain = plains[object] {
      contexts[context]!.bind(plain, key, isMulti: isMulti)
    }
    oracle.bind(object, key, in: context, binder: nil, isMulti: isMulti)
  }

  private mutating func bindByMember(_ key: Int) -> String {
    guard let binder = members.keys.sorted().randomElement(using: &random) else { return "nothing" }
    // Mostly itself, sometimes a helper.
    let object = Int.random(in: 0..<3, using: &random) == 0 ? pick(objectIDs) : binder
    let isMulti = Bool.random(using: &random)
    let root = contextIDs[0]
    withAppContext(contexts[root]!) {
      if let member = members[object] {
        members[binder]!.bind(member, key, isMulti: isMulti)
      } else if let plain = plains[object] {
        members[binder]!.bind(plain, key, isMulti: isMulti)
      }
    }
    oracle.bind(object, key, in: attachedTo[binder] ?? root, binder: binder, isMulti: isMulti)
    return "\(binder) binds \(object) under \(key)"
  }

  // MARK: Comparing

  /// Compares some lookups, or from time to time all there are; says what differs.
  mutating func difference(afterStep step: Int) -> String? {
    if step % 4_000 == 3_999 {
      for context in contextIDs {
        for search in UDISearch.allCases {
          for key in 0..<9 { if let difference = compare(context, key, search) { return difference } }
        }
        if contexts[context]!.descendants != oracle.branch(context).dropFirst().map({ contexts[$0]! }) {
          return "descendants of \(context)"
        }
        if contexts[context]!.children != oracle.contexts[context]!.children.map({ contexts[$0]! }) {
          return "children of \(context)"
        }
      }
    }
    let context = pick(contextIDs)
    let (key, search) = (Int.random(in: 0..<9, using: &random), pick(UDISearch.allCases))
    if step % 8 == 0 {
      let type = key / 3
      let found = contexts[context]!.linkAll(type, search)
      let expected = oracle.linkAll([type * 3, type * 3 + 1, type * 3 + 2], from: context, search)
      if found != expected { return "linkAll of \(type) from \(context), \(search): \(found), not \(expected)" }
      let named = contexts[context]!.linkAllNamed(key, search)
      let expectedNamed = oracle.linkAll([key], from: context, search)
      if named != expectedNamed {
        return "linkAll under \(key) from \(context), \(search): \(named), not \(expectedNamed)"
      }
    }
    return compare(context, key, search)
  }

  private mutating func compare(_ context: Int, _ key: Int, _ search: UDISearch) -> String? {
    let found = contexts[context]!.link(key, search)
    let expected = oracle.link(key, from: context, search)
    if expected == nil { misses += 1 } else { hits += 1 }
    guard found != expected else { return nil }
    return "link \(key) from \(context), \(search): \(found as Any), not \(expected as Any)"
  }
}

// MARK: - Nine keys by number: three types, each without a name and with two

private let names: [UDIName?] = [nil, "x", UDIName(17)]

extension UDIContext {
  fileprivate func bind(_ object: some Service & Other & Loose, _ key: Int, isMulti: Bool) {
    let name = names[key % 3]
    switch (key / 3, isMulti) {
    case (0, false): bind(object, as: (any Service).self, named: name)
    case (1, false): bind(object, as: (any Other).self, named: name)
    case (_, false): bind(object, as: (any Loose).self, named: name)
    case (0, true): multiBind(object, as: (any Service).self, named: name)
    case (1, true): multiBind(object, as: (any Other).self, named: name)
    case (_, true): multiBind(object, as: (any Loose).self, named: name)
    }
  }

  fileprivate func unbind(_ key: Int) {
    switch key / 3 {
    case 0: unbind((any Service).self, named: names[key % 3])
    case 1: unbind((any Other).self, named: names[key % 3])
    default: unbind((any Loose).self, named: names[key % 3])
    }
  }

  fileprivate func register(_ key: Int, _ lifetime: UDILifetime, _ make: @escaping @Sendable () -> Plain) {
    let name = names[key % 3]
    switch key / 3 {
    case 0: register((any Service).self, named: name, lifetime: lifetime) { make() }
    case 1: register((any Other).self, named: name, lifetime: lifetime) { make() }
    default: register((any Loose).self, named: name, lifetime: lifetime) { make() }
    }
  }

  fileprivate func unregister(_ key: Int) {
    switch key / 3 {
    case 0: unregister((any Service).self, named: names[key % 3])
    case 1: unregister((any Other).self, named: names[key % 3])
    default: unregister((any Loose).self, named: names[key % 3])
    }
  }

  fileprivate func link(_ key: Int, _ search: UDISearch) -> Int? {
    let name = names[key % 3]
    return switch key / 3 {
    case 0: number(link((any Service).self, named: name, search: search))
    case 1: number(link((any Other).self, named: name, search: search))
    default: number(link((any Loose).self, named: name, search: search))
    }
  }

  fileprivate func linkAll(_ type: Int, _ search: UDISearch) -> [Int] {
    switch type {
    case 0: linkAll((any Service).self, search: search).compactMap(number)
    case 1: linkAll((any Other).self, search: search).compactMap(number)
    default: linkAll((any Loose).self, search: search).compactMap(number)
    }
  }

  fileprivate func linkAllNamed(_ key: Int, _ search: UDISearch) -> [Int] {
    let name = names[key % 3]
    return switch key / 3 {
    case 0: linkAll((any Service).self, named: name, search: search).compactMap(number)
    case 1: linkAll((any Other).self, named: name, search: search).compactMap(number)
    default: linkAll((any Loose).self, named: name, search: search).compactMap(number)
    }
  }
}

extension Member {
  fileprivate func bind(_ object: some Service & Other & Loose, _ key: Int, isMulti: Bool) {
    let name = names[key % 3]
    switch (key / 3, isMulti) {
    case (0, false): bind(object, as: (any Service).self, named: name)
    case (1, false): bind(object, as: (any Other).self, named: name)
    case (_, false): bind(object, as: (any Loose).self, named: name)
    case (0, true): multiBind(object, as: (any Service).self, named: name)
    case (1, true): multiBind(object, as: (any Other).self, named: name)
    case (_, true): multiBind(object, as: (any Loose).self, named: name)
    }
  }

  fileprivate func unbind(_ key: Int) {
    switch key / 3 {
    case 0: unbind((any Service).self, named: names[key % 3])
    case 1: unbind((any Other).self, named: names[key % 3])
    default: unbind((any Loose).self, named: names[key % 3])
    }
  }
}

private func number(_ dependency: Any?) -> Int? { (dependency as? any Loose).flatMap { Int($0.label) } }
