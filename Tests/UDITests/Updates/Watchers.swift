@testable import UDI

/// The state of the consumers whose lookups begin in a context.
extension UDIContext {
  /// Whether all consumers have seen every change and are waiting for the next one.
  var consumersAreWaiting: Bool { ownWatchers.allSatisfy { watcher in Tree.change { _ in watcher.changes.isWanted } } }

  /// For each watcher whose lookup begins in this context, the number of contexts where the watcher is entered.
  var nodeCountsOfWatchers: [Int] {
    let watchers = ownWatchers
    return Tree.change { _ in watchers.map { $0.isEntered ? 1 + $0.nodesAbove.count : 0 } }
  }

  private var ownWatchers: [Watcher] {
    change { node, _ in node.allLookouts.compactMap { $0 as? Watcher }.filter { $0.start == node } }
  }
}

extension UDIContext {
  /// The number of keys under which lookups are entered in this context.
  var lookoutCount: Int { change { node, _ in node.treeLocked.extras?.followers.count ?? 0 } }
}
