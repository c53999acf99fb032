import UDI

/// Binding, making and moving.
func changeScenarios(_ plain: Plain) -> [Scenario] {
  let parent = UDIContext(tag: "parent")
  let objects = (0..<16).map { _ in Plain() }

  // A branch of 1,000 contexts with the same ten keys in each, and two parents to move it between.
  let tree = UDIContext(tag: "tree")
  let (left, right) = (makeChild(of: tree, "left"), makeChild(of: tree, "right"))
  var branch = [makeChild(of: left, "branch")]
  for index in 1..<1000 { branch.append(makeChild(of: branch[(index - 1) / 10], "\(index)")) }
  for context in branch { for key in keys.prefix(10) { key.multiBind(plain, context) } }
  let moved = branch[0]
  keepAlive(tree, parent)

  // The same by hand.
  let parentNode = NodeByHand("parent")
  let treeNode = NodeByHand("tree")
  let (leftNode, rightNode) = (treeNode.makeChild("left"), treeNode.makeChild("right"))
  var branchOfNodes = [leftNode.makeChild("branch")]
  for index in 1..<1000 { branchOfNodes.append(branchOfNodes[(index - 1) / 10].makeChild("\(index)")) }
  for node in branchOfNodes { for key in keys.prefix(10) { node.bind(plain, as: key.id) } }
  let movedNode = branchOfNodes[0]
  keepAlive(treeNode)

  return [
    Scenario("by hand: bind 16 fresh keys in a new node, each", .printed, operations: 1600) {
      var time = 0.0
      for _ in 0..<100 {
        let node = NodeByHand("new")
        time += timed { for index in 0..<16 { node.bind(objects[index], as: keys[index].id) } }
        precondition(node.link(keys[15].id) === objects[15])
      }
      return time
    },
    Scenario(
      "bind 16 fresh keys in a new context, each", .against("by hand: bind 16 fresh keys in a new node, each", 2.9),
      operations: 1600
    ) {
      var time = 0.0
      for _ in 0..<100 {
        let context = UDIContext(tag: "new")
        time += timed { for index in 0..<16 { keys[index].bind(objects[index], context) } }
        precondition(context.link((any K15).self) === objects[15])
      }
      return time
    },
    .loop(useByHandName, .printed, operations: 500) { count in
      for _ in 0..<count { useNode(of: parentNode, objects) }
    },
    .loop("make a child, bind 3, link 5, remove it", .against(useByHandName, 1.9), operations: 500) { count in
      for _ in 0..<count {
        let child = makeChild(of: parent, "child")
        use(child, of: parent, objects)
      }
    },
    .loop("make a scope, bind 3, link 5, end it", .against(useByHandName, 1.5), operations: 500) { count in
      for _ in 0..<count { useScope(of: parent, "scope", objects) }
    },
    .loop("by hand: move a branch of 1,000 nodes", .printed, operations: 100, perCall: 2) { count in
      for _ in 0..<count {
        leftNode.remove(movedNode)
        rightNode.add(movedNode)
        rightNode.remove(movedNode)
        leftNode.add(movedNode)
      }
    },
    .loop(
      "move a branch of 1,000 contexts", .against("by hand: move a branch of 1,000 nodes", 1.1), operations: 100,
      perCall: 2
    ) { count in
      for _ in 0..<count {
        try? right.addChild(moved)
        try? left.addChild(moved)
      }
    },
  ]
}

/// Binds 3 in a child, links 5, and removes it.
@inline(__always)
private func use(_ child: UDIContext, of parent: UDIContext, _ objects: [Plain]) {
  keys[0].bind(objects[0], child)
  keys[1].bind(objects[1], child)
  keys[2].bind(objects[2], child)
  keys[0].link(child)
  keys[1].link(child)
  keys[2].link(child)
  keys[0].link(parent)
  keys[3].link(child)
  parent.removeChild(child)
}

private let useByHandName = "by hand: make a node, bind 3, link 5, remove it"

private func useNode(of parent: NodeByHand, _ objects: [Plain]) {
  let node = parent.makeChild("node")
  node.bind(objects[0], as: keys[0].id)
  node.bind(objects[1], as: keys[1].id)
  node.bind(objects[2], as: keys[2].id)
  opaque(node.link(keys[0].id))
  opaque(node.link(keys[1].id))
  opaque(node.link(keys[2].id))
  opaque(parent.link(keys[0].id))
  opaque(node.link(keys[3].id))
  parent.remove(node)
}

/// Makes a scope, binds 3, links 5 and ends it.
func useScope(of parent: UDIContext, _ tag: String, _ objects: [Plain]) {
  guard let scope = try? parent.makeScope(tag: tag) else { fatalError("two scopes with the tag \(tag)") }
  use(scope, of: parent, objects)
}

/// 100,000 siblings that all bind one key. Again and again, the one that answers goes away.
func siblingScenarios() -> [Scenario] {
  let root = UDIContext(tag: "root")
  let siblings = (0..<100_000).map { makeChild(of: root, "\($0)") }
  let objects = siblings.map { _ in Plain() }
  for (sibling, object) in zip(siblings, objects) { sibling.bind(object, as: (any Service).self) }
  var mortal: [Plain] = []
  keepAlive(root, objects as AnyObject)

  // By hand, there is a list of siblings and the place of the one that answers.
  let service = ObjectIdentifier((any Service).self)
  let nodes = siblings.indices.map { NodeByHand("\($0)") }
  for (node, object) in zip(nodes, objects) { node.bind(object, as: service) }
  var first = 0
  func linkByHand() -> Plain? {
    while first < nodes.count {
      if let found = nodes[first].link(service) { return found }
      first += 1
    }
    return nil
  }
  return [
    Scenario("by hand: unbind the one that answers, link", .printed, operations: 1000) {
      first = 0
      let time = timed {
        for index in 0..<1000 {
          nodes[index].unbind(service)
          opaque(linkByHand())
        }
      }
      precondition(linkByHand() === objects[1000])
      for index in 0..<1000 { nodes[index].bind(objects[index], as: service) }
      return time
    },
    Scenario(
      "100,000 siblings: unbind the one that answers, link",
      .against("by hand: unbind the one that answers, link", 2.9),
      operations: 1000
    ) {
      let time = timed {
        for index in 0..<1000 {
          siblings[index].unbind((any Service).self)
          opaque(root.link((any Service).self))
        }
      }
      precondition(root.link((any Service).self) === objects[1000])
      for index in 0..<1000 { siblings[index].bind(objects[index], as: (any Service).self) }
      return time
    },
    Scenario("by hand: the one that answers dies, link", .printed, operations: 1000) {
      first = 0
      mortal = (0..<1000).map { _ in Plain() }
      for index in 0..<1000 { nodes[index].bind(mortal[999 - index], as: service) }
      let time = timed {
        for _ in 0..<1000 {
          mortal.removeLast()
          opaque(linkByHand())
        }
      }
      precondition(linkByHand() === objects[1000])
      for index in 0..<1000 { nodes[index].bind(objects[index], as: service) }
      return time
    },
    Scenario(
      "100,000 siblings: the one that answers dies, link", .against("by hand: the one that answers dies, link", 3.9),
      operations: 1000
    ) {
      mortal = (0..<1000).map { _ in Plain() }
      for index in 0..<1000 { siblings[index].bind(mortal[999 - index], as: (any Service).self) }
      let time = timed {
        for _ in 0..<1000 {
          mortal.removeLast()
          opaque(root.link((any Service).self))
        }
      }
      precondition(root.link((any Service).self) === objects[1000])
      for index in 0..<1000 { siblings[index].bind(objects[index], as: (any Service).self) }
      return time
    },
  ]
}
