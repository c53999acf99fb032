/// Finds the leak traces of leaked objects, that is, the references that lead to them.
package struct LeakTraces {
  private let graph: ReferenceGraph
  /// The result of a search from the objects that may be alive: for each node, the edge by which the search reached it;
  /// nil if it was not reached.
  private let fromKnown: [Origin?]
  private let leaked: [Int]
  /// The positions of the leaked objects in the array that the initialiser was given, by their nodes.
  private let positions: [Int: Int]
  /// How many nodes the searches from leaked objects may still visit.
  private var budget = 2_000_000

  /// The edge by which a search has reached a node, seen from there.
  private typealias Origin = (node: Int, steps: String)

  /// - Parameters:
  ///   - leaked: The objects that should be gone.
  ///   - known: Objects that may be alive, and from which references may lead to the leaked ones.
  package init(to leaked: [AnyObject], from known: [AnyObject]) {
    graph = ReferenceGraph(known + leaked)
    let graph = graph
    // The graph has all objects that it was given.
    self.leaked = leaked.map { graph.existingIndex(of: $0)! }
    positions = Dictionary(zip(self.leaked, 0...)) { first, _ in first }
    let leaked = Set(self.leaked)
    // No trace leads through another leaked object, because that object has its own trace.
    fromKnown = Self.search(
      graph, from: known.compactMap { graph.existingIndex(of: $0) }.filter { !leaked.contains($0) },
      passing: { !leaked.contains($0) })
  }

  /// Returns the trace of a leaked object; nil if none is found. If possible, the trace begins at an object that may be
  /// alive. The second choice is a trace from the leaked object back to itself.
  package mutating func trace(of object: AnyObject) -> String? {
    guard let goal = graph.existingIndex(of: object) else { return nil }
    if fromKnown[goal] != nil { return text(to: goal, fromKnown) }
    guard budget > 0 else { return nil }
    let origins = Self.search(graph, from: [goal], passing: { $0 != goal }, until: goal)
    budget -= graph.nodes.count
    return origins[goal] == nil ? nil : text(to: goal, origins)
  }

  /// Finds the leaked objects that are not held by other leaked objects alone, and what each of them holds.
  ///
  /// Of leaked objects that hold one another in a cycle, one stands for the cycle.
  ///
  /// - Returns: These objects, and the other leaked objects that each holds, directly or through others, all as
  ///   positions in the array that the initialiser was given. Each position occurs once. Objects that something alive
  ///   holds come first.
  package func causes() -> [(position: Int, held: [Int])] {
    let heldByKnown = leaked.indices.filter { fromKnown[leaked[$0]] != nil }
    var visited = Set(heldByKnown.map { leaked[$0] })
    let causes = heldByKnown.map { (position: $0, held: visit(from: leaked[$0], &visited)) }
    // The rest takes two passes. In the first, each object that no earlier one leads to is a candidate. A candidate
    // may lead to earlier ones, but not to later ones, so in the second pass the last candidate comes first.
    func pass(_ positions: [Int], _ visited: inout Set<Int>) -> [(position: Int, held: [Int])] {
      positions.compactMap { position in
        visited.insert(leaked[position]).inserted ? (position, visit(from: leaked[position], &visited)) : nil
      }
    }
    var inFirstPass = visited
    let candidates = pass(Array(leaked.indices), &inFirstPass).map(\.position)
    return causes + pass(candidates.reversed(), &visited).reversed()
  }

  /// Visits the nodes that can be reached from the given one and have not been visited yet.
  ///
  /// - Returns: The leaked objects among them, in order.
  private func visit(from start: Int, _ visited: inout Set<Int>) -> [Int] {
    var found: [Int] = []
    var stack = [start]
    while let node = stack.popLast() {
      for edge in graph.nodes[node].edges where visited.insert(edge.target).inserted {
        stack.append(edge.target)
        if let position = positions[edge.target] { found.append(position) }
      }
    }
    return found.sorted()
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
        origins[edge.target] = (node, edge.steps)
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
