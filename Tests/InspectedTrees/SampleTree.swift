import UDI

/// A tree to look at, with the objects that are alive in it.
final class SampleTree {
  let name: String
  let root: UDIContext
  /// What can be looked up in the tree, with its verb.
  private(set) var keys: [Key] = []
  private(set) var held: [AnyObject] = []
  private let remake: () -> SampleTree?

  struct Key {
    let type: String
    let name: String?
    let explain: (UDIContext, UDISearch?) -> UDIExplanation
  }

  init(_ name: String, root: String, _ remake: @escaping () -> SampleTree?) {
    self.name = name
    self.root = UDIContext(tag: root)
    self.remake = remake
  }

  func hold<Object: AnyObject>(_ object: Object) -> Object {
    held.append(object)
    return object
  }

  func add<Dependency: Sendable>(_ type: Dependency.Type, named name: UDIName? = nil) {
    let key = Key(type: String(reflecting: type), name: name?.description) { context, search in
      context.explain(type, named: name, search: search)
    }
    keys.append(key)
  }

  /// What `explain` says about a lookup.
  struct Way: Encodable {
    let path: [String]
    let type: String
    let name: String?
    let search: UDISearch?
    let explanation: UDIExplanation
  }

  /// The ways of all lookups from all contexts. A lookup can withdraw what is dead, so each has a tree of its own.
  func ways() -> [Way] {
    if keys.isEmpty { return [] }
    return paths.flatMap { path in
      keys.indices.flatMap { index in
        ([nil] + UDISearch.allCases).compactMap { search in
          guard let tree = remake(), let context = tree.root.context(at: path) else { return nil }
          let key = tree.keys[index]
          return Way(
            path: path, type: key.type, name: key.name, search: search, explanation: key.explain(context, search))
        }
      }
    }
  }

  /// The tags below the root that lead to each context.
  private var paths: [[String]] {
    root.snapshot().contexts.reduce(into: []) { paths, context in
      paths.append(context.parent.map { paths[$0] + [context.tag] } ?? [])
    }
  }

  /// Changes the tree on the browser's behalf: `add TAG`, `remove TAG`, or `drop`.
  func change(_ command: String) {
    let words = command.split(separator: " ").map(String.init)
    switch words.first {
    case "add": _ = try? root.makeChild(tag: words[1])
    case "remove": root.removeChild(tag: words[1])
    case "drop": held.removeAll()
    default: break
    }
  }
}
