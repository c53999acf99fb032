import Synchronization
import UDI

protocol Service: AnyObject, Sendable {}
protocol Part: AnyObject, Sendable {}
protocol Last: AnyObject, Sendable {}

/// Acts in the middle of its death.
final class Plain: Service, Part, Last {
  private let farewell: (@Sendable () -> Void)?
  init(_ farewell: (@Sendable () -> Void)? = nil) { self.farewell = farewell }
  deinit { farewell?() }
}

/// Binds itself and what it holds wherever it is attached.
final class Member: UDIObject, Service, Part {
  let _attachedContext = UDIAttachment()
  private let part = Plain()
  func didAttachContext() {
    bind(self, as: (any Service).self)
    multiBind(part, as: (any Part).self, named: "part")
  }
}

/// The tree that the threads share: contexts that stay, between which others come, go and move.
final class Field: Sendable {
  let root = UDIContext(tag: "root")
  let fixed: [UDIContext]
  /// Says that it is over, to those who follow.
  let last = Plain()

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

  /// Consumers that follow what lookups give, from several contexts, in all directions; they end when they see what comes last.
  func follow() -> [Task<Int, Never>] {
    ([root] + fixed).flatMap { context in
      UDISearch.allCases.map { search in
        Task { [last] in
          var count = 0
          let services = Task {
            for await _ in context.updates(of: (any Service).self, search: search) { await Task.yield() }
          }
          for await found in context.updates(of: (any Last).self, search: search) {
            count += 1
            if found === last { break }
          }
          services.cancel()
          await services.value
          return count
        }
      }
    }
  }

  /// Binds what comes last where every search finds it, and waits for those who follow.
  func settle(_ consumers: [Task<Int, Never>]) async throws -> Int {
    for context in [root] + fixed { context.multiBind(last, as: (any Last).self) }
    var seen = 0
    for consumer in consumers { seen += await consumer.value }
    return seen
  }

  /// What one thread does.
  func work(_ steps: Int, _ random: some RandomNumberGenerator) {
    var random = random
    func pick() -> UDIContext { fixed[Int.random(in: fixed.indices, using: &random)] }
    var own: [UDIContext] = []
    var held: [Member] = []
    for step in 0..<steps {
      let (context, other) = (pick(), pick())
      switch Int.random(in: 0..<14, using: &random) {
      case 0:
        let child = context.withChild(tag: "passing") { child in
          child.provide(Plain(), as: (any Part).self)
          _ = child.link((any Service).self, search: .ancestors)
          return child
        }
        own.append(child)
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
        context.setUp { $0.bind(Plain(), as: (any Part).self, named: "set up") }
      default:
        _ = context.link((any Service).self, search: .ancestors)
        _ = context.link((any Part).self)
        _ = root.link((any Part).self, named: "part")
      }
      if own.count > 8 { own.removeFirst().removeFromParent() }
      if held.count > 8 { held.removeFirst() }
    }
    for context in own { context.removeFromParent() }
  }

  /// What must be so when nobody changes anything any more: an index that answers as a plain traversal does, and nothing left of what went.
  func check() {
    for context in [root] + fixed { context.unregister((any Part).self) }
    precondition(root.descendants.count == fixed.count, "contexts are left: \(root.descendants)")
    for context in [root] + fixed {
      for name in [nil, "part", "passing", "set up"] as [UDIName?] {
        let plainly = ([context] + context.descendants).lazy.compactMap {
          $0.link((any Part).self, named: name, search: .local)
        }.first
        precondition(context.link((any Part).self, named: name) === plainly, "another answer than a traversal's")
        precondition(plainly == nil, "\(name as Any) is left")
      }
      precondition(context.link((any Last).self, search: .local) === last)
    }
    precondition(root.linkAll((any Last).self).count == fixed.count + 1)
    precondition(root.linkAll((any Service).self).count == 1, "only what the root's provider has made is left")
  }
}
