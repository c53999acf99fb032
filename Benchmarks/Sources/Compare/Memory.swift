import CAllocations
import UDI

/// The bytes that contexts and bindings allocate, including everything that belongs to them.
struct MemoryFigure {
  let name: String
  let bytes: Double
  /// The maximum number of bytes.
  let limit: Double
}

func memoryFigures(_ plain: Plain) -> [MemoryFigure] {
  let count = 10_000
  // Interned types and the like belong to the process, not to a context.
  let rehearsal = UDIContext(tag: "rehearsal")
  for key in keys { key.multiBind(plain, rehearsal) }
  for key in keys { key.unbind(rehearsal) }

  let root = UDIContext(tag: "root")
  var contexts = [root]
  contexts.reserveCapacity(count)
  let empty = allocatedBytes {
    for index in 1..<count { contexts.append(makeChild(of: contexts[(index - 1) / 10], "\(index)")) }
  }
  let oneKey = allocatedBytes { for context in contexts { keys[0].multiBind(plain, context) } }
  let fourKeys = allocatedBytes { for context in contexts { for key in keys[1..<5] { key.multiBind(plain, context) } } }
  for context in contexts { for key in keys[0..<5] { key.unbind(context) } }

  // What a context holds after everything below it has gone.
  let hub = makeChild(of: root, "hub")
  func fillAndEmpty() {
    for index in 0..<count {
      let below = makeChild(of: hub, "\(index)")
      keys[index % 20].multiBind(plain, below)
    }
    for child in hub.children { child.removeFromParent() }
  }
  // A first round, for what the runtime allocates when a type is used for the first time.
  fillAndEmpty()
  let left = allocatedBytes(fillAndEmpty)

  // What is left after many links of a graph of ten instances.
  let graph = UDIContext(tag: "graph")
  registerGraph(in: graph)
  func linkGraph(_ count: Int) { for _ in 0..<count { opaque(linkGraphOnce(graph)) } }
  linkGraph(1)
  let leftOfGraphs = allocatedBytes { linkGraph(1_000_000) }
  return [
    MemoryFigure(name: "left of 1,000,000 graph links", bytes: Double(leftOfGraphs), limit: 0),
    MemoryFigure(name: "an empty context", bytes: Double(empty) / Double(count - 1), limit: 400),
    MemoryFigure(name: "a binding, one in each context", bytes: Double(oneKey) / Double(count), limit: 240),
    MemoryFigure(name: "a binding, four more in each", bytes: Double(fourKeys) / Double(4 * count), limit: 240),
    MemoryFigure(name: "left of 10,000 contexts that were below", bytes: Double(left), limit: 0),
  ]
}

/// Returns how many bytes a body allocates and does not free.
private func allocatedBytes(_ body: () -> Void) -> Int {
  allocations_count(true)
  body()
  allocations_count(false)
  return allocations_live_bytes()
}

/// Returns how many allocations one operation makes.
func allocations(of scenario: Scenario) -> Double {
  _ = scenario.run()
  allocations_count(true)
  _ = scenario.run()
  allocations_count(false)
  return Double(allocations_made()) / Double(scenario.operations)
}
