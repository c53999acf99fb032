import UDI

/// Lookups and changes in a tree of 100,000 contexts, each with at most ten children, in which twenty keys are in use.
func bigTreeScenarios(_ plain: Plain) -> [Scenario] {
  var contexts = [UDIContext(tag: "0")]
  for index in 1..<100_000 { contexts.append(makeChild(of: contexts[(index - 1) / 10], "\(index)")) }
  let root = contexts[0]
  // All keys but the first are bound all over the tree. The first is bound only in the last leaf.
  for (index, context) in contexts.enumerated().dropFirst(1000) { keys[1 + index % 19].multiBind(plain, context) }
  var last = contexts[99_999]
  let lastLeaf = last
  keys[0].multiBind(plain, lastLeaf)
  // An inner context, half-way up from the last leaf.
  for _ in 0..<2 { last = last.parent ?? last }
  let inner = last
  // At depth 4: 0 → 1…10 → 11…110 → 111…1110 → 1111….
  let deep = contexts[5000]
  precondition(deep.path.count == 4)

  let found = 1000
  let spread = (0..<found).map { _ in Plain() }
  for (index, object) in spread.enumerated() { contexts[index * 99 + 50].bind(object, as: (any Service).self) }
  keepAlive(root, spread as AnyObject)

  // The same tree by hand, in which the same is bound.
  var nodes = [NodeByHand("0")]
  for index in 1..<100_000 { nodes.append(nodes[(index - 1) / 10].makeChild("\(index)")) }
  for (index, node) in nodes.enumerated().dropFirst(1000) { node.bind(plain, as: keys[1 + index % 19].id) }
  let service = ObjectIdentifier((any Service).self)
  let spreadNodes = spread.indices.map { nodes[$0 * 99 + 50] }
  for (node, object) in zip(spreadNodes, spread) { node.bind(object, as: service) }
  let deepNode = nodes[5000]
  keepAlive(nodes[0])

  expect("a hit in the last leaf") {
    root.link((any K0).self) === plain && inner.link((any K0).self) === plain
      && lastLeaf.link((any K0).self, search: .local) === plain
  }

  return [
    .loop("miss, root of 100,000 contexts", .againstFloor(0.9), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(root.link((any Missing).self)) }
    },
    // The context is three levels below the root, and the lookup climbs to the root: 0.45 for each level.
    .loop("miss, inside 100,000 contexts", .againstFloor(0.9 + 3 * 0.45), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(inner.link((any Missing).self)) }
    },
    .loop("hit in the last leaf, from the root", .againstFloor(2.2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(root.link((any K0).self)) }
    },
    .loop("hit in the last leaf, from inside", .againstFloor(2.2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(inner.link((any K0).self)) }
    },
    Scenario("by hand: bind a fresh key at depth 4", .printed, operations: 1600) {
      var time = 0.0
      for _ in 0..<100 {
        time += timed { for key in freshKeys { deepNode.bind(plain, as: key.id) } }
        for key in freshKeys { deepNode.unbind(key.id) }
      }
      return time
    },
    Scenario(
      "bind a fresh key at depth 4", .against("by hand: bind a fresh key at depth 4", 1.7), operations: 1600
    ) {
      var time = 0.0
      for _ in 0..<100 {
        time += timed { for key in freshKeys { key.multiBind(plain, deep) } }
        for key in freshKeys { key.unbind(deep) }
      }
      return time
    },
    Scenario("by hand: unbind it", .printed, operations: 1600) {
      var time = 0.0
      for _ in 0..<100 {
        for key in freshKeys { deepNode.bind(plain, as: key.id) }
        time += timed { for key in freshKeys { deepNode.unbind(key.id) } }
      }
      return time
    },
    Scenario("unbind it", .against("by hand: unbind it", 1.3), operations: 1600) {
      var time = 0.0
      for _ in 0..<100 {
        for key in freshKeys { key.multiBind(plain, deep) }
        time += timed { for key in freshKeys { key.unbind(deep) } }
      }
      return time
    },
    .loop("by hand: 1,000 spread over them, each", .printed, operations: 5, perCall: found) { count in
      for _ in 0..<count {
        let all = spreadNodes.compactMap { $0.link(service) }
        precondition(all.count == found)
        opaque(all)
      }
    },
    .loop(
      "linkAll of 1,000 spread over them, each", .against("by hand: 1,000 spread over them, each", 2.2), operations: 5,
      perCall: found
    ) { count in
      for _ in 0..<count {
        let all = root.linkAll((any Service).self)
        precondition(all.count == found)
        opaque(all)
      }
    },
  ]
}

/// Lookups along a chain of 10,000 contexts that ends in the only binding.
func chainScenarios(_ plain: Plain) -> [Scenario] {
  let root = UDIContext(tag: "0")
  var end = root
  var half = root
  for level in 1...10_000 {
    end = makeChild(of: end, "\(level)")
    if level == 5000 { half = end }
  }
  end.multiBind(plain, as: (any Service).self)
  let middle = half
  keepAlive(root)
  expect("a hit at the end of the chain") {
    root.link((any Service).self) === plain && middle.link((any Service).self) === plain
      && root.link((any Service).self, search: .local) == nil
  }
  return [
    .loop("hit at the end of a chain of 10,000", .againstFloor(2.2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(root.link((any Service).self)) }
    },
    .loop("the same, from half-way", .againstFloor(2.2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(middle.link((any Service).self)) }
    },
  ]
}
