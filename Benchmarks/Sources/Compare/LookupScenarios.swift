import UDI

/// Lookups in one context.
func lookupScenarios(_ plain: Plain) -> [Scenario] {
  let context = UDIContext(tag: "context")
  context.bind(plain, as: (any Service).self)
  context.bind(plain, as: (any Open).self)
  context.bind(plain, as: (any Service).self, named: .example)
  let member = Member().attached(to: context)

  let root = UDIContext(tag: "root")
  root.multiBind(plain, as: (any Service).self)
  var fourBelow = root
  for level in 1...4 { fourBelow = makeChild(of: fourBelow, "\(level)") }
  let bottom = fourBelow

  let scenarios: [Scenario] = [
    .loop("link, bound there", limit: 1.4, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Service).self)) }
    },
    .loop("link, not class-bound", limit: 1.5, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Open).self)) }
    },
    .loop("object.linkInLine", limit: 1.9, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(member.linkInLine((any Service).self)) }
    },
    .loop("link by name", limit: nil, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Service).self, named: .example)) }
    },
    .loop("miss, one context", limit: 0.6, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Missing).self)) }
    },
    .loop(".ancestors, bound 4 levels above", limit: 2.8, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(bottom.link((any Service).self, search: .ancestors)) }
    },
  ]
  // What the loops look up is bound weakly, and must not have died before them.
  precondition(context.link((any Open).self) != nil && bottom.link((any Service).self, search: .ancestors) === plain)
  keepAlive(root, member)
  return scenarios
}

extension UDIName {
  static let example = UDIName("example")
}

func makeChild(of parent: UDIContext, _ tag: String) -> UDIContext {
  guard let child = try? parent.makeChild(tag: tag) else { fatalError("two contexts with the tag \(tag)") }
  return child
}

/// Holds objects until the program ends: what is only bound would be gone.
func keepAlive(_ objects: AnyObject...) { kept += objects }
private nonisolated(unsafe) var kept: [AnyObject] = []
