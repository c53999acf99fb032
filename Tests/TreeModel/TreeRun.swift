import UDI

/// Operations on real trees. Each answer is compared with the oracle's.
///
/// A source of numbers decides what happens: at random, or by the bytes of a fuzzer, which looks for cases that nobody
/// thought of.
package struct TreeRun<Source: RandomNumberGenerator> {
  /// Where the decisions come from.
  package internal(set) var random: Source
  private let maximumSize: Int
  var oracle = Oracle(keyCount: 9)

  var contexts: [Int: UDIContext] = [:]
  private(set) var contextIDs: [Int] = []
  private var members: [Int: NumberedMember] = [:]
  private var plains: [Int: Numbered] = [:]
  private var objectIDs: [Int] = []
  private var farewells: [Int: Farewell] = [:]
  private let looks = Notes<Look>()
  /// What providers with closers have made, and what has been closed, by the instances' numbers.
  private let made = Notes<Int>()
  let closed = Notes<Int>()
  /// Whose factories are running, the outermost first: those of instances that are kept, by the instances' numbers.
  private let makers = Notes<Int>()
  /// What they have found, in the order in which that happened.
  private let helps = Notes<(maker: Int, helper: Int)>()
  private let reports = Notes<UDIMisuse.Kind>()
  var followers: [Follower] = []
  /// What a change did that it should not have done.
  var complaint: String?
  private var nextID = 0
  /// How many lookups found something, and how many found nothing.
  package private(set) var hits = 0
  package private(set) var misses = 0
  /// The kinds of scopes.
  private static var kinds: [String] { ["session", "room"] }
  /// How many instances were closed.
  package internal(set) var closings = 0

  package init(_ source: Source, maximumSize: Int) {
    random = source
    self.maximumSize = maximumSize
    // From the first of these on, the library notes what helps to make something in any scope. (Others might be
    // registered at the same time, by another test.)
    UDIContext(tag: "").register(0, .scope, { _ in Numbered(0) }, onClose: { _ in })
    _ = makeContext(below: nil)
    for _ in 0..<4 { makeObject() }
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }

  private mutating func makeContext(below parent: Int?, scopeKind: String? = nil) -> String {
    let id = nextID
    nextID += 1
    if let parent {
      let context = contexts[parent]!
      let child =
        if let scopeKind { try? context.makeScope(tag: "\(id)", kind: scopeKind) } else {
          try? context.makeChild(tag: "\(id)")
        }
      if isClosed(parent) {
        if child != nil { complaint = "the closed context has a child" }
        return "refuse to make \(id) below \(parent)"
      }
      contexts[id] = child
    } else {
      contexts[id] = UDIContext(tag: "\(id)")
    }
    contextIDs.append(id)
    oracle.addContext(id, scopeKind: scopeKind, below: parent)
    return "make \(scopeKind.map { "scope of \($0) " } ?? "")\(id) below \(parent.map(String.init) ?? "nothing")"
  }

  private mutating func makeObject() {
    let id = nextID
    nextID += 1
    let farewell = Int.random(in: 0..<4, using: &random) == 0 ? makeFarewell() : nil
    farewells[id] = farewell
    let body = farewell.map(perform)
    if Bool.random(using: &random) {
      members[id] = NumberedMember(id, farewell: body)
    } else {
      plains[id] = Numbered(id, farewell: body)
    }
    objectIDs.append(id)
    oracle.addObject(id)
  }

  /// Makes one random change, and returns a description of it.
  package mutating func step() -> String {
    noteMade()
    let reports = reports
    let operation = withReporter(UDIReporter { reports.note($0.kind) }) { change() }
    let found = reports.take().reduce(into: [:]) { $0[$1, default: 0] += 1 }
    if found != oracle.reports { complaint = "reports of \(found), not \(oracle.reports)" }
    oracle.reports = [:]
    return operation
  }

  mutating func noteMade() {
    for number in made.take() { oracle.make(number) }
    for (maker, helper) in helps.take() { oracle.note(maker, isMadeWith: helper) }
  }

  private mutating func change() -> String {
    let (context, key) = (pick(contextIDs), Int.random(in: 0..<9, using: &random))
    switch Int.random(in: 0..<112, using: &random) {
    case 0..<14 where contextIDs.count < maximumSize:
      let isRoot = Int.random(in: 0..<40, using: &random) == 0
      let isScope = !isRoot && Int.random(in: 0..<5, using: &random) == 0
      return makeContext(below: isRoot ? nil : context, scopeKind: isScope ? pick(Self.kinds) : nil)
    case 14..<26:
      let target = pick(contextIDs)
      if isClosed(target) || isClosed(context) || oracle.ancestors(target).contains(context) {
        do {
          try contexts[target]!.addChild(contexts[context]!)
          complaint = "that was not refused"
        } catch {}
        return "refuse \(context) below \(target)"
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
      oracle.attach(member, to: target)
      return "attach \(member) to \(target.map(String.init) ?? "nothing")"
    case 100..<106:
      return register(key, in: context)
    case 106..<108:
      contexts[context]!.unregister(key)
      oracle.unregister(key, in: context)
      return "unregister \(key) in \(context)"
    case 108..<110:
      return close(context)
    case 110..<112:
      // Changes what is kept, but not what a lookup finds.
      contexts[context]!.reset()
      oracle.reset(context)
      return "reset \(context)"
    case 80..<90 where objectIDs.count > 3:
      let object = objectIDs.remove(at: Int.random(in: objectIDs.indices, using: &random))
      members[object] = nil
      plains[object] = nil
      oracle.release(object)
      let farewell = farewells.removeValue(forKey: object)
      if let farewell { note(farewell) }
      return "release \(object), which says \(farewell.map { "\($0)" } ?? "nothing")"
    default:
      if objectIDs.count < max(8, maximumSize / 2) { makeObject() }
      return "make an object"
    }
  }

  private mutating func register(_ key: Int, in context: Int) -> String {
    let id = nextID
    nextID += 1
    let choice = Int.random(in: 0..<11, using: &random)
    let kind = pick(Self.kinds)
    let lifetimes = [
      UDILifetime.unique, .unique, .graph, .weak, .weak, .context, .scope, .context, .context, .scope, .scope(kind),
    ]
    let scopeKinds: Set<String>? = choice == 10 ? [kind] : lifetimes[choice] == .scope ? Set(Self.kinds) : nil
    let (lifetime, hasCloser) = (lifetimes[choice], choice > 6)
    // Takes the tree lock in its `deinit`, but links nothing: a link might make another instance, and so on.
    weak let place = contexts[context]
    // Under a lower number, so that no factory ever needs itself.
    let needed = key > 0 && Bool.random(using: &random) ? Int.random(in: 0..<key, using: &random) : nil
    let search = pick([nil, nil] + UDISearch.allCases)
    let (looks, made, closed, makers, helps) = (looks, made, closed, makers, helps)
    let isKept = lifetime != .unique && lifetime != .graph
    let make: @Sendable (UDIContext) -> Numbered = { context in
      // The context that the factory is given is the scope.
      let number = scopeKinds != nil ? Oracle.number(of: id)(Int(context.tag) ?? -1) : id
      if isKept { makers.note(number) }
      if let needed {
        let look = Look(from: context, needed, search)
        looks.note(look)
        if let maker = makers.last, let helper = look.found { helps.note((maker, helper)) }
      }
      if isKept { makers.removeLast() }
      if hasCloser { made.note(number) }
      return Numbered(number, farewell: { _ = place?.parent })
    }
    let close: @Sendable (Int?) throws -> Void = { number in
      closed.note(number ?? -1)
      if let number, Broken.isThrown(closing: number) { throw Broken(instance: number) }
    }
    contexts[context]!.register(key, lifetime, make, onClose: hasCloser ? close : nil)
    oracle.register(id, key, in: context, scopeKinds: scopeKinds, hasCloser: hasCloser)
    let look = needed.map { ", which looks for \($0), \(search.map { "\($0)" } ?? "no search")" } ?? ""
    return "register \(id) under \(key) in \(context), \(lifetime)\(hasCloser ? " with a closer" : "")\(look)"
  }

  private mutating func discard(_ context: Int) -> String {
    let branch = oracle.branch(context)
    guard canSpare(branch) else { return "nothing" }
    contexts[context]!.removeFromParent()
    discard(branch)
    return "discard \(branch)"
  }

  /// Whether the tree is still of use without some contexts.
  func canSpare(_ ids: [Int]) -> Bool {
    ids.count < 30 && contextIDs.contains { !isClosed($0) && !ids.contains($0) }
  }

  mutating func discard(_ branch: [Int]) {
    // An attached object holds its context, so release such objects first.
    for (member, place) in oracle.attachedTo where branch.contains(place) {
      members[member]!.attachedContext = nil
      oracle.attach(member, to: nil)
    }
    for id in branch { contexts[id] = nil }
    contextIDs.removeAll { branch.contains($0) }
    oracle.discard(branch)
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
    let target = isMulti && Bool.random(using: &random) ? pick(contextIDs) : nil
    let places = target.map { [contexts[$0]!] }
    let root = contextIDs[0]
    withAppContext(contexts[root]!) {
      if let member = members[object] {
        members[binder]!.bind(member, key, isMulti: isMulti, in: places)
      } else if let plain = plains[object] {
        members[binder]!.bind(plain, key, isMulti: isMulti, in: places)
      }
    }
    if let target {
      oracle.multiBind(object, key, in: target, binder: binder)
    } else {
      oracle.bind(object, key, in: oracle.attachedTo[binder] ?? root, binder: binder, isMulti: isMulti)
    }
    return "\(binder) binds \(object) under \(key)\(target.map { " in \($0)" } ?? "")"
  }

  // MARK: Farewells

  /// What an object does in its `deinit`.
  private enum Farewell {
    case look(Int, from: Int)
    case unbind(Int, in: Int)
    case remove(Int)
    case bind(Int, Int, in: Int, isMulti: Bool)
  }

  private mutating func makeFarewell() -> Farewell {
    let (context, key) = (pick(contextIDs), Int.random(in: 0..<9, using: &random))
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .unbind(key, in: context)
    case 1: return .remove(context)
    case 2 where !objectIDs.isEmpty:
      return .bind(pick(objectIDs), key, in: context, isMulti: Bool.random(using: &random))
    default: return .look(key, from: context)
    }
  }

  /// It holds neither contexts nor objects, so what is gone by then takes no part.
  private func perform(_ farewell: Farewell) -> @Sendable () -> Void {
    switch farewell {
    case .look(let key, let id):
      weak let context = contexts[id]
      return {
        // A lookup outside scopes may be reported.
        withReporter(.silent) {
          for search in UDISearch.allCases { _ = context?.link(key, search) }
          _ = context?.linkAll(key / 3, .descendants)
        }
      }
    case .unbind(let key, let id):
      weak let context = contexts[id]
      return { context?.unbind(key) }
    case .remove(let id):
      weak let context = contexts[id]
      return { context?.removeFromParent() }
    case .bind(let object, let key, let id, let isMulti):
      weak let context = contexts[id]
      weak let member = members[object]
      weak let plain = plains[object]
      return {
        // A closed context that the run has discarded might still be there, and report this.
        withReporter(.silent) {
          if let member { context?.bind(member, key, isMulti: isMulti) }
          if let plain { context?.bind(plain, key, isMulti: isMulti) }
        }
      }
    }
  }

  private mutating func note(_ farewell: Farewell) {
    switch farewell {
    case .look: break
    case .unbind(let key, let context):
      if oracle.contexts[context] != nil { oracle.unbind(key, in: context) }
    case .remove(let context):
      if oracle.contexts[context] != nil { oracle.remove(context) }
    case .bind(let object, let key, let context, let isMulti):
      guard oracle.contexts[context]?.isClosed == false, oracle.liveObjects.contains(object) else { return }
      oracle.bind(object, key, in: context, binder: nil, isMulti: isMulti)
    }
  }

  // MARK: Comparing

  /// Compares some lookups, and from time to time all lookups; returns a description of what differs.
  package mutating func difference(afterStep step: Int) -> String? {
    // A lookup outside scopes may be reported.
    withReporter(.silent) { differenceOfLookups(afterStep: step) }
  }

  private mutating func differenceOfLookups(afterStep step: Int) -> String? {
    if let complaint { return complaint }
    #if DEBUG || FUZZING
      if step % 32 == 0 {
        for root in contextIDs where contexts[root]!.parent == nil {
          if let broken = contexts[root]!.brokenInvariant { return broken }
        }
      }
    #endif
    if step % 4_000 == 3_999, let difference = completeDifference() { return difference }
    let context = pick(contextIDs)
    let (key, search) = (Int.random(in: 0..<9, using: &random), pick(UDISearch.allCases))
    if step % 8 == 0 {
      let type = key / 3
      let found = contexts[context]!.linkAll(type, search)
      let expected = oracle.linkAll([type * 3, type * 3 + 1, type * 3 + 2], from: context, search)
      if found != expected { return "linkAll of \(type) from \(context), \(search): \(found), not \(expected)" }
    }
    return compare(context, key, search) ?? (step % 4 == 0 ? follow(context, key, search) : nil)
  }

  /// Compares all possible lookups, and the tree itself.
  package mutating func completeDifference() -> String? { withReporter(.silent) { differenceOfAll() } }

  private mutating func differenceOfAll() -> String? {
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
    return nil
  }

  private mutating func compare(_ context: Int, _ key: Int, _ search: UDISearch) -> String? {
    // Discards what was made before, in the middle of a change.
    _ = looks.take()
    let found = contexts[context]!.link(key, search)
    let expected = oracle.link(key, from: context, search)
    if expected == nil { misses += 1 } else { hits += 1 }
    for look in looks.take() {
      // Making looks up.
      let expected = oracle.link(look.key, from: look.context, look.search ?? .ancestors)
      if look.found != expected { return "\(look), not \(expected as Any)" }
    }
    guard found != expected else { return nil }
    return "link \(key) from \(context), \(search): \(found as Any), not \(expected as Any)"
  }
}
