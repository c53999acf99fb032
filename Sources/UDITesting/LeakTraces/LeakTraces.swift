/// Finds, for leaked objects, the references that lead to them: their leak traces.
package struct LeakTraces {
  private let graph: ReferenceGraph
  /// For each node, the edge that a search from the objects that may be alive came by.
  private let fromKnown: [Origin?]
  private let leaked: [Int]
  /// How many nodes the searches that begin at leaked objects may still visit.
  private var budget = 2_000_000

  /// Where a search came from.
  private struct Origin {
    let node: Int
    let steps: String
  }

  /// - Parameters:
  ///   - leaked: The objects that should be gone.
  ///   - known: Objects that may be alive, and that perhaps lead to one of these.
  package init(to leaked: [AnyObject], from known: [AnyObject]) {
    graph = ReferenceGraph(known + leaked)
    let graph = graph
    self.leaked = leaked.compactMap { graph.existingIndex(of: $0) }
    let leaked = Set(self.leaked)
    // No way leads through a leaked object, because that object has a trace of its own.
    fromKnown = Self.search(
      graph, from: known.compactMap { graph.existingIndex(of: $0) }.filter { !leaked.contains($0) },
      passing: { !leaked.contains($0) })
  }

  /// The trace of a leaked object: from an object that may be alive, or else from the leaked object back to itself, or
  /// else from another leaked one. Nil if none was found.
  package mutating func trace(of object: AnyObject) -> String? {
    guard let goal = graph.existingIndex(of: object) else { return nil }
    if fromKnown[goal] != nil { return text(to: goal, fromKnown) }
    if let circle = search(from: [goal], to: goal) { return circle }
    return search(from: leaked.filter { $0 != goal }, to: goal)
  }

  private mutating func search(from start: [Int], to goal: Int) -> String? {
    guard budget > 0 else { return nil }
    let origins = Self.search(graph, from: start, passing: { $0 != goal }, until: goal)
    budget -= graph.nodes.count
    return origins[goal] == nil ? nil : text(to: goal, origins)
  }

  /// Searches breadth first, so that the shortest way is found.
  ///
  /// - Parameters:
  ///   - start: The nodes to begin at. They have no origin, unless an edge leads back to them.
  ///   - isPassed: Whether the search goes on from a node that it has reached.
  ///   - goal: The node where the search ends.
  private static func search(
    _ graph: ReferenceGraph, from start: [Int], passing isPassed: (Int) -> Bool, until goal: Int? = nil
  ) -> [Origin?] {
    var origins = [Origin?](repeating: nil, count: graph.nodes.count)
    let starts = Set(start)
    var queue = start
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      for edge in graph.nodes[node].edges where origins[edge.target] == nil {
        if starts.contains(edge.target), edge.target != goal { continue }
        origins[edge.target] = Origin(node: node, steps: edge.steps)
        if edge.target == goal { return origins }
        if isPassed(edge.target) { queue.append(edge.target) }
      }
    }
    return origins
  }

  private func text(to goal: Int, _ origins: [Origin?]) -> String {
    var parts: [String] = []
    var node = goal
    repeat {
      guard let origin = origins[node] else { break }
      parts.append(origin.steps + (graph.nodes[node].name.map { " → \($0)" } ?? ""))
      node = origin.node
    } while node != goal
    var text = graph.nodes[node].name ?? "UDI"
    for part in parts.reversed() {
      // What a closure has captured may be a closure, or a variable. That is one step for a reader.
      let isRepeated = text.hasSuffix(ReferenceScan.captures) && part.hasPrefix(ReferenceScan.captures)
      text += isRepeated ? String(part.dropFirst(ReferenceScan.captures.count)) : part
    }
    return text
  }
}
