/// Finds the leak traces of leaked objects, that is, the references that lead to them.
package struct LeakTraces {
  private let graph: ReferenceGraph
  /// The result of a search from the objects that may be alive: for each node, the edge by which the search reached it;
  /// nil if it was not reached.
  private let fromKnown: [Origin?]
  private let leaked: [Int]
  /// How many nodes the searches from leaked objects may still visit.
  private var budget = 2_000_000

  /// The edge by which a search has reached a node.
  private struct Origin {
    let node: Int
    let steps: String
  }

  /// - Parameters:
  ///   - leaked: The objects that should be gone.
  ///   - known: Objects that may be alive, and from which references may lead to the leaked ones.
  package init(to leaked: [AnyObject], from known: [AnyObject]) {
    graph = ReferenceGraph(known + leaked)
    let graph = graph
    self.leaked = leaked.compactMap { graph.existingIndex(of: $0) }
    let leaked = Set(self.leaked)
    // No trace leads through another leaked object, because that object has its own trace.
    fromKnown = Self.search(
      graph, from: known.compactMap { graph.existingIndex(of: $0) }.filter { !leaked.contains($0) },
      passing: { !leaked.contains($0) })
  }

  /// Returns the trace of a leaked object; nil if none is found. If possible, the trace begins at an object that may be
  /// alive. The second choice is a trace from the leaked object back to itself, and the third is one from another
  /// leaked object.
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

  /// Searches in breadth-first order, so that it finds the shortest path.
  ///
  /// - Parameters:
  ///   - start: The nodes to begin at. None of them gets an origin, except `goal` if an edge leads back to it.
  ///   - isPassed: Whether the search continues from a node that it has reached.
  ///   - goal: The node at which the search ends; nil to visit all nodes.
  /// - Returns: For each node, the edge by which the search reached it; nil if it was not reached.
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
      // A closure may have captured another closure, or a variable. Readers see this as a single step.
      let isRepeated = text.hasSuffix(ReferenceScan.captures) && part.hasPrefix(ReferenceScan.captures)
      text += isRepeated ? String(part.dropFirst(ReferenceScan.captures.count)) : part
    }
    return text
  }
}
