/// A node and everything below it, breadth-first: the order of `UDISearch.descendants`.
///
/// This is the only traversal of the tree there is. Lookups do not need it, their index gives the same order; `find`, snapshots and
/// explanations use it. To be iterated under the tree lock.
struct BreadthFirst: Sequence, IteratorProtocol {
  /// A node, and the place of its parent in the sequence; nil for the first.
  struct Element {
    let node: Node
    let parent: Int?
  }

  /// What has been handed out.
  private var nodes: ContiguousArray<Node> = []
  /// The place of the node whose children come next.
  private var parent = 0
  /// The next of them.
  private var child: Node?
  private let start: Node
  private let entersScopes: Bool
  private let omitted: Node?
  /// How many nodes may still be looked at, those included that are left out.
  private(set) var rest: Int

  /// - Parameters:
  ///   - entersScopes: Whether to go into the scopes below the first node, which lookups from there do not.
  ///   - omitted: A node to leave out, with all below it.
  ///   - limit: At how many nodes to look at most.
  init(_ start: Node, entersScopes: Bool = true, except omitted: Node? = nil, limit: Int = .max) {
    self.start = start
    self.entersScopes = entersScopes
    self.omitted = omitted
    rest = limit
  }

  mutating func next() -> Element? {
    if nodes.isEmpty {
      guard rest > 0 else { return nil }
      rest -= 1
      nodes.append(start)
      child = start.firstChild
      return Element(node: start, parent: nil)
    }
    while true {
      while let node = child {
        guard rest > 0 else { return nil }
        rest -= 1
        child = node.nextSibling
        if node == omitted || node.isScope && !entersScopes { continue }
        nodes.append(node)
        return Element(node: node, parent: parent)
      }
      parent += 1
      guard parent < nodes.count else { return nil }
      child = nodes[parent].firstChild
    }
  }
}
