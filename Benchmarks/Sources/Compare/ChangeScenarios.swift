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

  return [
    Scenario("bind 16 fresh keys in a new context, each", limit: 5, operations: 1600) {
      var time = 0.0
      for _ in 0..<100 {
        let context = UDIContext(tag: "new")
        time += timed { for index in 0..<16 { keys[index].bind(objects[index], context) } }
        precondition(context.link((any K15).self) === objects[15])
      }
      return time
    },
    .loop("make a child, bind 3, link 5, remove it", limit: 35, operations: 500) { count in
      for _ in 0..<count {
        let child = makeChild(of: parent, "child")
        use(child, of: parent, objects)
      }
    },
    .loop(
      "make a scope, bind 3, link 5, end it", limit: 0.85, operations: 500,
      comparedWith: "make a child, bind 3, link 5, remove it"
    ) { count in
      for _ in 0..<count { useScope(of: parent, "scope", objects) }
    },
    .loop("move a branch of 1,000 contexts", limit: 60, operations: 100, perCall: 2) { count in
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
  return [
    Scenario("100,000 siblings: unbind the one that answers, link", limit: 8, operations: 1000) {
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
    Scenario("100,000 siblings: the one that answers dies, link", limit: 10, operations: 1000) {
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
