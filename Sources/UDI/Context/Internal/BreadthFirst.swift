/// A node and everything below it, breadth-first: the order of `UDISearch.descendants`.
///
/// This is the only traversal of the tree there is. Lookups do not need it, their index gives the same order; `find` and
/// snapshots use it. To be iterated under the tree lock.
struct BreadthFirst: Sequence, IteratorProtocol {
  /// A node, and the place of its parent in the sequence; nil for the first.
  struct Element {
    let node: Node
    let parent: Int?
  }

  private var queue: ContiguousArray<Element>
  /// Everything before it has been handed out. An index, because removing from the front would make this quadratic.
  private var head = 0

  init(_ start: Node) { queue = [Element(node: start, parent: nil)] }

  mutating func next() -> Element? {
    guard head < queue.count else { return nil }
    let element = queue[head]
    let place = head
    element.node.forEachChild { queue.append(Element(node: $0, parent: place)) }
    head += 1
    return element
  }
}
