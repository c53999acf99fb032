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

  private var queue: ContiguousArray<Element>
  /// Everything before it has been handed out. An index, because removing from the front would make this quadratic.
  private var head = 0
  private let entersScopes: Bool
  private let omitted: Node?

  /// - Parameters:
  ///   - entersScopes: Whether to go into the scopes below the first node, which lookups from there do not.
  ///   - omitted: A node to leave out, with all below it.
  init(_ start: Node, entersScopes: Bool = true, except omitted: Node? = nil) {
    queue = [Element(node: start, parent: nil)]
    self.entersScopes = entersScopes
    self.omitted = omitted
  }

  mutating func next() -> Element? {
    guard head < queue.count else { return nil }
    let element = queue[head]
    let place = head
    element.node.forEachChild { child in
      if child != omitted, entersScopes || !child.isScope { queue.append(Element(node: child, parent: place)) }
    }
    head += 1
    return element
  }
}
