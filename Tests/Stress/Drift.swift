import Foundation
import Synchronization
import TreeModel
import UDI

protocol Anchor: AnyObject, Sendable {}

/// Bound at the root, so every lookup that climbs to the root finds it.
final class PlainAnchor: Anchor {}

/// Contexts that all threads move and look up from. They are moved below the contexts of the tree that stay, and below
/// others that die while they have them as children.
final class Drift: Sendable {
  private let field: Field
  /// Tied contexts are always somewhere below the root, so a lookup upwards must find what is there.
  private let tied: [UDIContext]
  /// Loose contexts are below the root, below a context that dies soon, or on their own.
  private let loose: [UDIContext]
  /// A child of each context, those of the tied ones first. Lookups begin here, so they climb through the contexts that
  /// are moved.
  private let leaves: [UDIContext]
  private let anchor = PlainAnchor()
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

  /// Moves one of the contexts.
  ///
  /// - Parameter passing: The thread's context that dies soon. A loose context becomes its grandchild.
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

  /// Looks up from the children. Nothing here takes the tree lock: that would order the threads, and hide a race.
  func lookUp(_ random: inout some RandomNumberGenerator) {
    for _ in 0..<20 {
      let index = Int.random(in: leaves.indices, using: &random)
      let found = leaves[index].link((any Anchor).self, search: .ancestors)
      precondition(found === anchor || index >= tied.count, "a lookup upwards missed what is above both places")
      lookups.add(1, ordering: .relaxed)
    }
  }

  /// Moves the contexts on one thread, and looks up from them on two others that do nothing else.
  ///
  /// The counts make sure that there are lookups between any two moves. They are relaxed, so they order nothing else:
  /// if the library's locks leave a race open, the thread sanitizer sees it.
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

  /// Runs lookups that sometimes stop on their way from a context to its parent, to give the other thread time to move
  /// or release the parent. The other thread must not be able to: the lookup holds the locks of both.
  private func lingering(seed: UInt64, _ operation: () -> Void) {
    #if DEBUG
      // Starts with the seed, so that the threads do not stop at the same lookups.
      let climbs = Atomic<UInt64>(seed)
      Schedule.$hook.withValue({ [self] point in
        guard point == .climbing else { return }
        precondition(heldLocks == 2, "a lookup upwards goes hand over hand")
        guard climbs.add(1, ordering: .relaxed).newValue % 256 == 0 else { return }
        let before = moves.load(ordering: .relaxed)
        // For a limited time, because whoever moves this very context waits for the lookup.
        for _ in 0..<100 where moves.load(ordering: .relaxed) < before + 8 { sched_yield() }
      }) {
        operation()
      }
      precondition(climbs.load(ordering: .relaxed) > seed, "no lookup has come to the point where it climbs")
    #else
      operation()
    #endif
  }

  /// Takes all of the contexts out of the tree.
  func end() {
    for context in tied + loose { context.removeFromParent() }
    for context in tied + loose {
      precondition(context.link((any Anchor).self, search: .ancestors) == nil)
      precondition(context.descendants.map(\.tag) == ["leaf"], "\(context) has lost its leaf, or got something else")
    }
  }
}
