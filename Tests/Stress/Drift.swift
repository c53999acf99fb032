import Foundation
import Synchronization
import TreeModel
import UDI

protocol Anchor: AnyObject, Sendable {}

/// What every lookup upwards finds that ends at the root.
final class Chain: Anchor {}

/// Contexts that every thread moves, and looks up from: below the tree's own contexts, and below passing ones that die with them as children.
final class Drift: Sendable {
  private let field: Field
  /// Always somewhere below the root.
  private let tied: [UDIContext]
  /// Below the root, below a passing context, or on their own.
  private let loose: [UDIContext]
  /// The child of each, from which a lookup comes up through what is moved: of the tied ones first.
  private let leaves: [UDIContext]
  private let anchor = Chain()
  private let isOver = Atomic<Bool>(false)
  private let lookups = Atomic<Int>(0)
  private let moves = Atomic<Int>(0)

  init(_ field: Field) {
    self.field = field
    tied = (0..<2).map { UDIContext(tag: "tied \($0)") }
    loose = (0..<2).map { UDIContext(tag: "loose \($0)") }
    leaves = (tied + loose).compactMap { try? $0.makeChild(tag: "leaf") }
    for context in tied { try? field.fixed[0].addChild(context) }
    field.root.bind(anchor, as: (any Anchor).self)
  }

  /// Moves one of them.
  ///
  /// - Parameter passing: Contexts that take one of them with them when they go, and that others replace.
  func move(_ passing: inout UDIContext?, _ random: inout some RandomNumberGenerator) {
    let target = field.fixed[Int.random(in: field.fixed.indices, using: &random)]
    let index = Int.random(in: 0..<2, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: try? target.addChild(tied[index])
    case 1: try? target.addChild(loose[index])
    case 2: loose[index].removeFromParent()
    case 3: passing = nil
    default:
      let next = UDIContext(tag: "passing")
      try? next.makeChild(tag: "below").addChild(loose[index])
      passing = next
    }
  }

  /// Looks up from them. Nothing here takes the tree lock, which would keep a race from being seen.
  func lookUp(_ random: inout some RandomNumberGenerator) {
    for _ in 0..<20 {
      let index = Int.random(in: leaves.indices, using: &random)
      let found = leaves[index].link((any Anchor).self, search: .ancestors)
      precondition(found === anchor || index >= tied.count, "a lookup upwards missed what is above both places")
      lookups.add(1, ordering: .relaxed)
    }
  }

  /// Moves them on one thread, and looks up from them on others that do nothing else.
  ///
  /// Between any two moves there are lookups, which the counts make sure of: in an order that synchronises nothing, so that the thread
  /// sanitizer sees what the locks leave open.
  func race(_ count: Int) async {
    await withTaskGroup { group in
      for thread in 0..<2 {
        group.addTask {
          await onThread { [self] in
            var random = SplitMix(seed: UInt64(thread))
            lingering(seed: UInt64(thread)) {
              while !isOver.load(ordering: .relaxed) { lookUp(&random) }
            }
          }
        }
      }
      await onThread { [self] in
        var random = SplitMix(seed: 99)
        var passing: UDIContext?
        for _ in 0..<count {
          let before = lookups.load(ordering: .relaxed)
          while lookups.load(ordering: .relaxed) < before + 5 { sched_yield() }
          move(&passing, &random)
          moves.add(1, ordering: .relaxed)
        }
        isOver.store(true, ordering: .relaxed)
      }
    }
  }

  /// Runs lookups, and stays between a context and its parent now and then, where a lookup upwards holds the locks of both. If it did not,
  /// the parent would be gone by then.
  private func lingering(seed: UInt64, _ operation: () -> Void) {
    #if DEBUG
      let climbs = Atomic<UInt64>(seed)
      Schedule.following { [self] _ in
        precondition(HeldLocks.count == 2, "a lookup upwards goes hand over hand")
        guard climbs.add(1, ordering: .relaxed).newValue % 256 == 0 else { return }
        let before = moves.load(ordering: .relaxed)
        // Not for long: whoever moves the context waits for it.
        for _ in 0..<100 where moves.load(ordering: .relaxed) < before + 8 { sched_yield() }
      } operation: {
        operation()
      }
    #else
      operation()
    #endif
  }

  /// Takes all of them out of the tree.
  func end() {
    for context in tied + loose { context.removeFromParent() }
    for context in tied + loose {
      precondition(context.link((any Anchor).self, search: .ancestors) == nil)
      precondition(context.descendants.map(\.tag) == ["leaf"], "\(context) has lost its leaf, or got something else")
    }
  }
}
