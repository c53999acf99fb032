/// The nodes that a search visits. Everything here is called under the tree lock, unless it says otherwise.
///
/// `visit` says in which order each search goes. The nodes below one are in the order of `BreadthFirst`, which the
/// ranks of the index and `Node+LinkAll.swift` follow. `Node.attempt`, the lookup of a single dependency, cannot use
/// it, because it runs without the tree lock, and so has the order once more. Both ask `UDISearch.looks`, which says
/// only whether a search goes down or up.
extension Node {
  /// Visits the nodes of a search in order, until one of the closures returns a result; returns this result.
  ///
  /// - Parameters:
  ///   - branch: Called with a node that stands for itself and everything below it that is not in a scope.
  ///   - alone: Called with a node that stands only for itself.
  @inline(__always)
  func visit<Result>(_ search: UDISearch, branch: (Node) -> Result?, alone: (Node) -> Result?) -> Result? {
    // Each closure is called in one place, because it is compiled into that place.
    let looks = search.looks
    var next: Node? = self
    if looks.below {
      if let result = branch(self) { return result }
      next = looks.above ? shared.parent : nil
    }
    while let node = next {
      if let result = alone(node) { return result }
      // A closed context is no longer in the tree, but lookups from it go on where it was.
      next = looks.above ? node.shared.parent : nil
    }
    return nil
  }

  /// Visits all nodes of a search in order.
  func visitAll(_ search: UDISearch, branch: (Node) -> Void, alone: (Node) -> Void) {
    func proceed(_: Void) -> Never? { nil }
    _ = visit(search, branch: { proceed(branch($0)) }, alone: { proceed(alone($0)) })
  }

  /// This node, and the nodes above it.
  package var andAncestors: UnfoldFirstSequence<Node> { sequence(first: self) { $0.parent } }

  /// The nodes above this one, the parent first.
  package var ancestors: DropFirstSequence<UnfoldFirstSequence<Node>> { andAncestors.dropFirst() }

  /// This node and the nodes below it, breadth-first.
  package var branch: [Node] { BreadthFirst(self).map(\.node) }

  /// The root of the tree.
  package var root: Node { andAncestors.reduce(self) { $1 } }

  // MARK: - The direction of a lookup. Called under the tree lock or the node's lock

  /// The direction of a lookup that begins here: the one that the lookup names or, if it names none, the context's own.
  /// There is one exception: while this thread or task runs a factory (or a completion) that was given this context, a
  /// lookup that names no direction goes up, so that nothing is made from dependencies below.
  func direction(of search: UDISearch?) -> UDISearch { search ?? (isHandedToFactory ? .ancestors : shared.search) }
}
