import Synchronization
import UDI
import UDIInspector

protocol Service: AnyObject, Sendable {}
protocol Part: AnyObject, Sendable {}
protocol Last: AnyObject, Sendable {}
/// What is only in scopes.
protocol Secret: AnyObject, Sendable {}

/// An object that uses the tree in its `deinit`.
final class Plain: Service, Part, Last, Secret {
  private let farewell: (@Sendable () -> Void)?
  init(_ farewell: (@Sendable () -> Void)? = nil) { self.farewell = farewell }
  deinit { farewell?() }
}

/// Binds itself and the object that it holds wherever it is attached.
final class Member: UDIObject, Service, Part {
  let _attachedContext = UDIAttachment()
  private let part = Plain()
  func didAttachContext() {
    bind(self, as: (any Service).self)
    multiBind(part, as: (any Part).self, named: "part")
  }
}

/// The tree that the threads share: contexts that stay, and between them contexts that come, go and move.
final class Field: Sendable {
  let root = UDIContext(tag: "root")
  let fixed: [UDIContext]
  /// Tells the consumers that the run is over.
  let last = Plain()
  private let isSettled = Atomic<Bool>(false)
  private let ended = Atomic<Int>(0)

  init() {
    var fixed: [UDIContext] = []
    for index in 0..<5 {
      guard let hub = try? root.makeChild(tag: "hub \(index)"), let below = try? hub.makeChild(tag: "below") else {
        fatalError("a new tree has no tags")
      }
      fixed += [hub, below]
    }
    self.fixed = fixed
    root.register((any Service).self, lifetime: .context) { Plain() }
  }

  /// What a consumer was given last.
  struct Followed: Sendable {
    let context: UDIContext
    let search: UDISearch
    /// Weak, so that following updates keeps nothing alive.
    weak var service: (any Service)?
    var isNothing = true
    var count = 0
  }

  /// Consumers that follow lookups from several contexts, in all directions. They end when they are given the last
  /// element.
  func follow() -> [Task<Followed, Never>] {
    ([root] + fixed).flatMap { context in
      UDISearch.allCases.map { search in
        Task { [self] in
          let services = Task {
            var followed = Followed(context: context, search: search)
            for await found in context.updates(of: (any Service).self, search: search) {
              followed.service = found
              followed.isNothing = found == nil
              followed.count += 1
              await Task.yield()
            }
            return followed
          }
          for await found in context.updates(of: (any Last).self, search: search) where found === last { break }
          ended.add(1, ordering: .acquiringAndReleasing)
          while !isSettled.load(ordering: .acquiring) { await Task.yield() }
          // The services' consumer is cancelled only after it got everything that it was notified of; each turn takes
          // one element.
          for _ in 0..<1000 { await Task.yield() }
          services.cancel()
          return await services.value
        }
      }
    }
  }

  /// Puts the last elements where each search finds them, in as few places as possible: above everything, and far
  /// below, in a branch that is moved there.
  func settle(_ consumers: [Task<Followed, Never>]) async throws -> Int {
    // Downwards: bound where nobody watches, and then moved below each hub's lowest context.
    var branches: [UDIContext] = []
    for context in fixed where context.children.isEmpty {
      let branch = UDIContext(tag: "last")
      try branch.makeChild(tag: "leaf").multiBind(last, as: (any Last).self)
      try context.addChild(branch)
      branches.append(branch)
    }
    // Upwards, consumers find it at the root. Only those that never move need it in its final place, and they are
    // notified last.
    root.multiBind(last, as: (any Last).self)
    while ended.load(ordering: .acquiring) < 3 * (fixed.count + 1) { await Task.yield() }
    for context in fixed { context.multiBind(last, as: (any Last).self) }
    isSettled.store(true, ordering: .releasing)
    var seen = 0
    for consumer in consumers {
      let followed = await consumer.value
      seen += followed.count
      let present = followed.context.link((any Service).self, search: followed.search)
      precondition(
        followed.service === present && followed.isNothing == (present == nil),
        "a consumer missed the last change, \(followed.search) from \(followed.context)")
    }
    for branch in branches { branch.removeFromParent() }
    return seen
  }

  /// What one thread does.
  func work(_ steps: Int, _ drift: Drift, _ odds: Odds, _ random: some RandomNumberGenerator) {
    var random = random
    func pick() -> UDIContext { fixed[Int.random(in: fixed.indices, using: &random)] }
    var own: [UDIContext] = []
    var held: [Member] = []
    var passing: UDIContext?
    var hand = Odds.Hand()
    for step in 0..<steps {
      let (context, other) = (pick(), pick())
      switch Int.random(in: 0..<22, using: &random) {
      case 0:
        let scope = context.withScope(tag: "passing") { scope in
          scope.provide(Plain(), as: (any Secret).self)
          _ = scope.link((any Service).self)
          return scope
        }
        let child = UDIContext(tag: "open \(UInt64.random(in: 0...UInt64.max, using: &random))")
        child.provide(Plain(), as: (any Part).self)
        try? context.addChild(child)
        own += [scope, child]
      case 1: if let moved = own.randomElement(using: &random) { try? other.addChild(moved) }
      case 2: if !own.isEmpty { own.remove(at: Int.random(in: own.indices, using: &random)).removeFromParent() }
      case 3: held.append(Member().attached(to: own.randomElement(using: &random) ?? context))
      case 4: if !held.isEmpty { held.remove(at: Int.random(in: held.indices, using: &random)) }
      case 5: held.randomElement(using: &random)?.attachedContext = other
      case 6:
        let plain = Plain { [root] in
          _ = root.link((any Part).self)
          other.unbind((any Part).self, named: "passing")
        }
        context.bind(plain, as: (any Part).self, named: "passing")
      case 7: context.register((any Part).self, lifetime: [.context, .weak, .graph][step % 3]) { Plain() }
      case 8: context.reset()
      case 9: context.unregister((any Part).self)
      case 10: _ = root.linkAll((any Part).self)
      case 11: _ = context.explain((any Part).self, named: "nothing", search: [.ancestors, .descendants][step % 2])
      case 12:
        _ = root.snapshot().text(depth: 3)
        context.register((any Part).self, lifetime: .unique, replaces: false) { Plain() }
      case 13, 14, 15, 16: odds.act(&hand, own: own.last, &random)
      case 17, 18: drift.move(&passing, &random)
      case 19: drift.lookUp(&random)
      default:
        _ = context.link((any Service).self, search: .ancestors)
        _ = context.link((any Part).self)
        _ = root.link((any Part).self, named: "part")
        precondition(
          root.link((any Secret).self) == nil && root.linkAll((any Secret).self).isEmpty, "seen into a scope")
      }
      if own.count > 8 { own.removeFirst().removeFromParent() }
      if held.count > 8 { held.removeFirst() }
    }
    for context in own { context.removeFromParent() }
  }

  /// Checks the state when nobody changes anything any more: the index must answer as a plain traversal does, and
  /// nothing may be left of what is gone.
  func check() {
    for context in [root] + fixed { context.unregister((any Part).self) }
    precondition(root.descendants.count == fixed.count, "contexts are left: \(root.descendants)")
    for context in [root] + fixed {
      for name in [nil, "part", "passing"] as [UDIName?] {
        let plainly = ([context] + context.descendants).lazy.compactMap {
          $0.link((any Part).self, named: name, search: .local)
        }.first
        let found = context.link((any Part).self, named: name, search: .descendants)
        precondition(found === plainly, "another answer than a traversal's")
        precondition(plainly == nil, "\(name as Any) is left")
      }
      precondition(context.link((any Last).self, search: .local) === last)
    }
    precondition(root.linkAll((any Last).self).count == fixed.count + 1)
    precondition(root.linkAll((any Service).self).count == 1, "only what the root's provider has made is left")
  }
}
