/// A node and all nodes below it, breadth-first, which is the order of `UDISearch.descendants`.
///
/// All code that visits the contexts below one uses it: for example, `descendants`, `warmUp`, `close` and snapshots.
/// Lookups do not, because the index gives them the same order. Iterate over it under the tree lock.
struct BreadthFirst: Sequence, IteratorProtocol {
  /// A node, and the position of its parent in the sequence; nil for the first node.
  typealias Element = (node: Node, parent: Int?)

  /// The nodes that have been returned.
  private var nodes: ContiguousArray<Node> = []
  /// The position, in `nodes`, of the node whose children are being returned; -1 before the first node is returned.
  private var parent = -1
  /// The next of these children, or the first node.
  private var child: Node?
  private let entersScopes: Bool
  private let omitted: Node?
  /// How many more nodes may be visited, including nodes that are not returned.
  private(set) var rest: Int
  /// Whether the sequence has ended because of the limit, although there were more nodes to visit.
  private(set) var isCutShort = false

  /// - Parameters:
  ///   - entersScopes: Whether to return scopes below the first node, and what is below these scopes. (Lookups from the
  ///     first node do not find what is there.)
  ///   - omitted: A node to skip, together with everything below it.
  ///   - limit: The largest number of nodes to visit, including nodes that are skipped.
  init(_ start: Node, entersScopes: Bool = true, except omitted: Node? = nil, limit: Int = .max) {
    (child, rest) = (start, limit)
    (self.entersScopes, self.omitted) = (entersScopes, omitted)
  }

  mutating func next() -> Element? {
    while true {
      while let node = child {
        isCutShort = rest == 0
        if isCutShort { return nil }
        rest -= 1
        let isFirst = nodes.isEmpty
        child = isFirst ? nil : node.treeLocked.nextSibling
        if !isFirst, node == omitted || node.treeLocked.isScope && !entersScopes { continue }
        nodes.append(node)
        return (node, isFirst ? nil : parent)
      }
      parent += 1
      guard parent < nodes.count else { return nil }
      child = nodes[parent].treeLocked.firstChild
    }
  }
}
