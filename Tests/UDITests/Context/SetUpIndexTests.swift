import Testing
import TreeModel

@testable import UDI

/// How the library finds pending set-ups: in breadth-first order, and without walking the tree.
@Suite struct SetUpIndexTests {
  // MARK: What a lookup looks at

  /// The nodes that lookups on this thread visit on their way to set-ups while a body runs.
  func steps(_ body: () throws -> Void) rethrows -> Int {
    PerThread.prepare()
    let before = PerThread.resolution.object.setUpSteps
    try body()
    return PerThread.resolution.object.setUpSteps - before
  }

  @Test(arguments: [500, 2000]) func stepsAreLinearInTheBlocksThatRun(count: Int) throws {
    let root = UDIContext(tag: "root")
    let runs = Tally()
    for index in 0..<count { try root.makeChild(tag: "\(index)").setUp { _ in runs.add() } }
    let steps = steps { #expect(root.link((any Service).self) == nil) }
    #expect(runs.count == count)
    #expect(steps <= 4 * count, "\(steps) steps for \(count) blocks")
  }

  @Test(arguments: [500, 2000]) func stepsAreLinearTwoLevelsDown(count: Int) throws {
    let root = UDIContext(tag: "root")
    let runs = Tally()
    for branch in 0..<10 {
      let branch = try root.makeChild(tag: "\(branch)")
      for index in 0..<count / 10 { try branch.makeChild(tag: "\(index)").setUp { _ in runs.add() } }
    }
    let plain = Plain()
    try root.makeChild(tag: "last").makeChild(tag: "answer").bind(plain, as: (any Service).self)
    let steps = steps { #expect(root.link((any Service).self) === plain) }
    #expect(runs.count == count)
    #expect(steps <= 8 * count, "\(steps) steps for \(count) blocks")
  }

  @Test(arguments: [200, 800]) func stepsAreLinearWhereBlocksMakeContextsWithBlocks(count: Int) throws {
    let root = UDIContext(tag: "root")
    let runs = Tally()
    for index in 0..<count {
      try root.makeChild(tag: "\(index)").setUp { context in
        runs.add()
        _ = try? context.makeChild(tag: "below").setUp { _ in runs.add() }
        // The thread is running this block, so the lookup skips it.
        _ = context.link((any Service).self, search: .local)
      }
    }
    let steps = steps { #expect(root.link((any Service).self) == nil) }
    #expect(runs.count == 2 * count)
    #expect(steps <= 16 * count, "\(steps) steps for \(2 * count) blocks")
  }

  /// A block that looks up from the root makes the other blocks run inside it. The lookup skips only that block itself.
  @Test(arguments: [200, 800]) func stepsAreLinearInsideABlock(count: Int) throws {
    let root = UDIContext(tag: "root")
    let runs = Tally()
    try root.makeChild(tag: "first").setUp { _ in _ = root.link((any Service).self) }
    for index in 0..<count { try root.makeChild(tag: "\(index)").setUp { _ in runs.add() } }
    let steps = steps { #expect(root.link((any Service).self) == nil) }
    #expect(runs.count == count)
    #expect(steps <= 16 * count, "\(steps) steps for \(count) blocks")
  }

  /// A block of the main actor that has not run does not make lookups elsewhere walk the tree.
  @Test func aBlockThatCannotRunCostsTheSameInAnyTree() throws {
    for count in [10, 2000] {
      let root = UDIContext(tag: "root")
      for index in 0..<count { try root.makeChild(tag: "\(index)") }
      let last = try root.makeChild(tag: "last")
      last.setUp { @MainActor _ in }
      let plain = Plain()
      last.bind(plain, as: (any Other).self)
      onThreads(1) { _ in
        let steps = steps {
          #expect(root.link((any Service).self) == nil && root.link((any Other).self) === plain)
          #expect(root.linkAll((any Other).self).count == 1)
        }
        #expect(steps <= 3, "\(steps) steps in a tree of \(count) contexts")
      }
    }
  }

  // MARK: The order

  /// A tree whose contexts have set-up blocks that bind something, and the answer of a plain breadth-first search.
  final class Model {
    struct Pending {
      let id: Int
      let keys: [Int]
      let isOnMainActor: Bool
    }

    var random: SplitMix
    let isOnMainActor: Bool
    var contexts = [UDIContext(tag: "root")]
    var pending: [UDIContext: [Pending]] = [:]
    var bound: [UDIContext: Swift.Set<Int>] = [:]
    let log = Journal()
    let plain = Plain()
    var blocks = 0
    var expected: [String] = []

    init(_ seed: UInt64, isOnMainActor: Bool) {
      random = SplitMix(seed: seed)
      self.isOnMainActor = isOnMainActor
    }

    static func name(_ key: Int) -> UDIName { UDIName(key) }

    /// Runs what may run here; returns whether the context then answers.
    private func visit(_ context: UDIContext, _ key: Int?) -> Bool {
      let (now, later) = (pending[context] ?? []).partitioned { isOnMainActor || !$0.isOnMainActor }
      pending[context] = later
      for block in now {
        expected.append("\(block.id)")
        bound[context, default: []].formUnion(block.keys)
      }
      return key.map { bound[context]?.contains($0) == true } ?? false
    }

    private func breadthFirst(_ start: UDIContext) -> [UDIContext] {
      var queue = [start]
      var next = 0
      while next < queue.count {
        queue += queue[next].children.filter { !$0.isScope }
        next += 1
      }
      return queue
    }

    private func lookUp(_ key: Int, _ start: UDIContext, _ search: UDISearch) -> Bool {
      switch search {
      case .local: return visit(start, key)
      case .descendants: return breadthFirst(start).contains { visit($0, key) }
      case .ancestors: return line(start).contains { visit($0, key) }
      case .lineage:
        return breadthFirst(start).contains { visit($0, key) } || line(start).dropFirst().contains { visit($0, key) }
      }
    }

    private func line(_ start: UDIContext) -> [UDIContext] {
      var line = [start]
      while let parent = line.last?.parent { line.append(parent) }
      return line
    }

    private func addBlock(_ context: UDIContext) {
      let keys = (0..<3).filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
      let block = Pending(id: blocks, keys: keys, isOnMainActor: Int.random(in: 0..<3, using: &random) == 0)
      blocks += 1
      pending[context, default: []].append(block)
      let (log, plain) = (log, plain)
      let body: @Sendable (UDIContext) -> Void = { context in
        log.add("\(block.id)")
        for key in keys { context.multiBind(plain, as: (any Service).self, named: Self.name(key)) }
      }
      if block.isOnMainActor { context.setUp { @MainActor in body($0) } } else { context.setUp(body) }
    }

    /// Makes a change, and returns what was not as expected.
    func step() throws -> String? {
      let context = contexts.randomElement(using: &random)!
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1:
        let tag = "\(blocks) \(contexts.count)"
        let isScope = Int.random(in: 0..<5, using: &random) == 0
        if contexts.count < 40 {
          contexts.append(isScope ? try context.makeScope(tag: tag) : try context.makeChild(tag: tag))
        }
      case 2, 3, 4: addBlock(context)
      case 5, 6: try? contexts.randomElement(using: &random)!.addChild(context)
      case 7: context.removeFromParent()
      case 8:
        let key = Int.random(in: 0..<3, using: &random)
        context.unbind((any Service).self, named: Self.name(key))
        bound[context]?.remove(key)
      case 9:
        // Everything below, whatever the search finds on the way.
        _ = breadthFirst(context).map { visit($0, nil) }
        _ = context.linkAll((any Service).self, search: .descendants)
      default:
        let key = Int.random(in: 0..<3, using: &random)
        let search = [UDISearch.descendants, .descendants, .local, .ancestors].randomElement(using: &random)!
        let finds = lookUp(key, context, search)
        let found = context.link((any Service).self, named: Self.name(key), search: search) != nil
        if found != finds { return "found: \(found), expected: \(finds)" }
      }
      return log.all == expected ? nil : "ran \(log.all.suffix(10)), expected \(expected.suffix(10))"
    }
  }

  static func run(_ seed: UInt64, isOnMainActor: Bool) throws {
    let model = Model(seed, isOnMainActor: isOnMainActor)
    for step in 0..<600 {
      if let difference = try model.step() {
        Issue.record("seed \(seed), step \(step): \(difference)")
        return
      }
    }
    #expect(model.expected.count > 50)
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func orderElsewhere(seed: UInt64) async throws {
    try await Task.detached { try Self.run(seed, isOnMainActor: false) }.value
  }

  @MainActor @Test(arguments: 0..<40 as Range<UInt64>) func orderOnTheMainActor(seed: UInt64) throws {
    try Self.run(seed, isOnMainActor: true)
  }

  // MARK: What else sees the index

  @Test func nothingElseSeesPendingSetUps() throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let plain = Plain()
    root.setUp { @MainActor _ in }
    child.setUp { @MainActor _ in }
    child.bind(plain, as: (any Service).self, named: "a")
    child.register((any Service).self, named: "b") { Plain() }
    onThreads(1) { _ in
      #expect(root.link((any Service).self, named: "a") === plain)
      #expect(root.linkAll((any Service).self).count == 2)
      #expect(root.registrations(of: (any Service).self).count == 2)
      let explanation = root.explain((any Service).self)
      #expect(explanation.cause == .otherNames(["a", "b"]))
      #expect(explanation.contexts.map(\.findings.count) == [0, 2])
      #expect(root.snapshot().contexts.map(\.bindings.count) == [0, 1])
      #expect(child.link((any Other).self, search: .ancestors) == nil)
    }
  }

  @Test func aContextThatGoesTakesItsBlocksWithIt() throws {
    weak var observed: Plain?
    let root = UDIContext(tag: "root")
    do {
      let plain = Plain()
      observed = plain
      let child = try root.makeChild(tag: "child")
      child.setUp { _ in _ = plain.label }
      try child.makeChild(tag: "grandchild").setUp { _ in _ = plain.label }
      UDIContext(tag: "alone").setUp { _ in _ = plain.label }
    }
    #expect(observed != nil)
    root.removeChild(tag: "child")
    #expect(observed == nil)
    let steps = steps { #expect(root.link((any Service).self) == nil) }
    #expect(steps == 0)
  }

  /// A dead binding is no answer: the set-up block behind it runs before the lookup finds anything that is further
  /// away.
  @Test func aDeadBindingHidesNoSetUp() throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let (near, far) = (Plain("near"), Plain("far"))
    try child.makeChild(tag: "grandchild").bind(far, as: (any Service).self)
    child.setUp { $0.multiBind(near, as: (any Service).self) }
    do {
      let mortal = Plain()
      root.bind(mortal, as: (any Service).self)
    }
    #expect(root.link((any Service).self) === near)
  }

  /// The same upwards, if the block is in a context above the dead binding.
  @Test func aDeadBindingHidesNoSetUpAbove() throws {
    let root = UDIContext(tag: "root")
    let parent = try root.makeChild(tag: "parent")
    let child = try parent.makeChild(tag: "child")
    let (near, far) = (Plain("near"), Plain("far"))
    for name in [nil, "name"] as [UDIName?] {
      root.bind(far, as: (any Service).self, named: name)
      parent.setUp { $0.multiBind(near, as: (any Service).self, named: name) }
      do {
        let mortal = Plain()
        child.bind(mortal, as: (any Service).self, named: name)
      }
      #expect(child.link((any Service).self, named: name, search: .ancestors) === near)
    }
  }

  /// The same if arguments are given, or a fresh instance is wanted.
  @Test(arguments: [UDISearch.descendants, .ancestors])
  func aDeadBindingHidesNoSetUpFromOtherVerbs(_ search: UDISearch) throws {
    for isFresh in [false, true] {
      let top = UDIContext(tag: "top")
      let middle = try top.makeChild(tag: "middle")
      let bottom = try middle.makeChild(tag: "bottom")
      let (start, far) = search == .descendants ? (top, bottom) : (bottom, top)
      @Sendable func register(_ label: String, in context: UDIContext) {
        if isFresh {
          context.register((any Loose).self) { Plain(label) }
        } else {
          context.register((any Loose).self) { (_, _: Int) in Plain(label) }
        }
      }
      register("far", in: far)
      middle.setUp { register("near", in: $0) }
      do {
        let mortal = Plain()
        start.bind(mortal, as: (any Loose).self)
      }
      let found =
        isFresh
        ? start.link((any Loose).self, search: search, fresh: true)
        : start.link((any Loose).self, search: search, with: 1)
      #expect(found?.label == "near")
    }
  }

  /// A thread that looks up elsewhere does not wait for a block that runs on the main actor.
  @MainActor @Test func nobodyWaitsElsewhereForABlockOfTheMainActor() throws {
    let root = UDIContext(tag: "root")
    let found = Locked(false)
    try root.makeChild(tag: "child").setUp { @MainActor context in
      onThreads(1) { _ in if root.link((any Service).self) != nil { found.withLock { $0 = true } } }
      context.register((any Service).self) { Plain() }
    }
    #expect(root.link((any Service).self) != nil)
    #expect(!found.withLock { $0 })
  }

  // MARK: Blocks that arrive during a lookup

  /// The keys of a branch arrive one after the other. The key of its set-up comes first.
  @Test func noLookupFindsAnythingInABranchWithoutItsSetUp() {
    let wrong = Tally()
    for _ in 0..<2_000 {
      let (root, branch) = (UDIContext(tag: "root"), UDIContext(tag: "branch"))
      let (near, far) = (Plain("near"), Plain("far"))
      let leaf = try? branch.makeChild(tag: "leaf")
      leaf?.bind(far, as: (any Service).self)
      for index in 0..<6 { leaf?.multiBind(far, as: (any Other).self, named: UDIName(index)) }
      branch.setUp { $0.bind(near, as: (any Service).self) }
      onThreads([
        { try? root.addChild(branch) },
        {
          while true {
            guard let found = root.link((any Service).self) else { continue }
            if found !== near { wrong.add() }
            return
          }
        },
      ])
    }
    #expect(wrong.count == 0)
  }
}

extension Array {
  fileprivate func partitioned(_ belongsFirst: (Element) -> Bool) -> ([Element], [Element]) {
    (filter(belongsFirst), filter { !belongsFirst($0) })
  }
}
