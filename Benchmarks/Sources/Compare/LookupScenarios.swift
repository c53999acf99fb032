import UDI

/// Lookups in one context.
func lookupScenarios(_ plain: Plain) -> [Scenario] {
  let context = UDIContext(tag: "context")
  context.multiBind(plain, as: (any Service).self)
  context.multiBind(plain, as: (any Open).self)
  context.multiBind(plain, as: (any Service).self, named: .example)
  context.register((any K0).self, lifetime: .context) { Plain() }
  let owned = context.link((any K0).self)
  context.register(Member.self, lifetime: .context) { Member() }
  guard let ownedMember = context.link(Member.self) else { fatalError("it is registered") }
  let member = Member().attached(to: context)
  let key = UDIKey<any Service>(named: .example)

  let root = UDIContext(tag: "root")
  root.multiBind(plain, as: (any Service).self)
  root.multiBind(plain, as: (any Service).self, named: .example)
  var fourBelow = root
  for level in 1...4 { fourBelow = makeChild(of: fourBelow, "\(level)") }
  let bottom = fourBelow

  keepAlive(root, member, ownedMember)
  expect("a hit where it is bound") { context.link((any Service).self) === plain }
  expect("a hit that is not class-bound") { context.link((any Open).self) as? Plain === plain }
  expect("a hit by an object") { member.linkInLine((any Service).self) === plain }
  expect("a hit by an object, of what its context owns") { member.linkInLine((any K0).self) === owned }
  expect("a hit by an object that its context owns") { ownedMember.linkInLine((any Service).self) === plain }
  expect("a hit by name") { context.link((any Service).self, named: .example) === plain }
  expect("a hit by name, in a literal") { context.link((any Service).self, named: "example") === plain }
  expect("a hit by key") { context.link(key) === plain }
  expect("a hit by an object, by name and key") {
    member.linkInLine((any Service).self, named: .example) === plain && member.link(key) === plain
  }
  expect("a hit by name, four levels above") { bottom.link((any Service).self, named: .example) === plain }
  expect("a miss") { context.link((any Missing).self) == nil }
  expect("a hit four levels above") {
    bottom.link((any Service).self, search: .ancestors) === plain && bottom.link((any Service).self) === plain
  }
  return [
    .loop("link, bound there", .againstFloor(1.5), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Service).self)) }
    },
    .loop("link, not class-bound", .againstFloor(1.8), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Open).self)) }
    },
    .loop("object.linkInLine", .againstFloor(1.9), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(member.linkInLine((any Service).self)) }
    },
    .loop("object.linkInLine, owned by the context", .againstFloor(1.2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(member.linkInLine((any K0).self)) }
    },
    .loop("link by a name that is kept", .againstFloor(1.8), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Service).self, named: .example)) }
    },
    .loop("link by name, a literal", .againstFloor(2.8), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Service).self, named: "example")) }
    },
    .loop("link by a key that is kept", .againstFloor(1.7), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link(key)) }
    },
    .loop("object.linkInLine by name, a literal", .againstFloor(2.9), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(member.linkInLine((any Service).self, named: "example")) }
    },
    .loop("object.linkInLine by a key that is kept", .againstFloor(2.2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(member.link(key)) }
    },
    .loop("object.require", .againstFloor(1.9), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(try? member.require((any Service).self)) }
    },
    .loop("object.linkInLine, by an object that the context owns", .againstFloor(3.3), allocatesNothing: true) {
      count in
      for _ in 0..<count { opaque(ownedMember.linkInLine((any Service).self)) }
    },
    .loop("miss, one context", .againstFloor(0.75), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any Missing).self)) }
    },
    .loop(".ancestors, bound 4 levels above", .againstFloor(2.8), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(bottom.link((any Service).self, search: .ancestors)) }
    },
    .loop("by name, bound 4 levels above", .againstFloor(3.2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(bottom.link((any Service).self, named: .example)) }
    },
    .loop(".lineage, bound 4 levels above, nothing below", .againstFloor(2.8), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(bottom.link((any Service).self)) }
    },
  ]
}

extension UDIName {
  static let example = UDIName("example")
}

func makeChild(of parent: UDIContext, _ tag: String) -> UDIContext {
  guard let child = try? parent.makeChild(tag: tag) else { fatalError("two contexts with the tag \(tag)") }
  return child
}

/// Holds objects until the program ends, because bindings would not keep them alive.
func keepAlive(_ objects: AnyObject...) { kept += objects }
private nonisolated(unsafe) var kept: [AnyObject] = []

/// Notes a condition without which the figures mean nothing: a hit that has become a miss would look fast. The
/// conditions are checked when all scenarios are ready, because scenarios share objects, and again after the
/// measurement.
func expect(_ what: String, _ holds: @escaping () -> Bool) { expectations.append((what, holds)) }
private nonisolated(unsafe) var expectations: [(what: String, holds: () -> Bool)] = []

func checkExpectations() {
  for (what, holds) in expectations { precondition(holds(), "what is measured as \(what) is something else") }
}
