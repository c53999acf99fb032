import UDI
import UDIInspector

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

  /// What `explain` says about a lookup, as far as the page computes it, too.
  struct Way: Encodable {
    struct Finding: Encodable { let kind, typeName: String, name, className: String? }
    struct Step: Encodable { let fullPath: [String], findings: [Finding] }

    let path: [String]
    let type: String
    let name: String?
    let search: UDISearch?
    let direction: UDISearch
    let cause: String
    let answer: [String]?
    let steps: [Step]
    let omittedCount, equallyNearCount: Int
    let nearestOutside: [String]?

    init(path: [String], key: Key, search: UDISearch?, _ explanation: UDIExplanation) {
      (self.path, type, name, self.search) = (path, key.type, key.name, search)
      direction = explanation.search
      // A case with associated values is reflected as a child that is labelled with the name of the case.
      cause = Mirror(reflecting: explanation.cause).children.first?.label ?? "\(explanation.cause)"
      if case .found(let place) = explanation.cause { answer = place.fullPath } else { answer = nil }
      steps = explanation.contexts.map { context in
        Step(
          fullPath: context.fullPath,
          findings: context.findings.map {
            Finding(kind: $0.kind.rawValue, typeName: $0.typeName, name: $0.name, className: $0.className)
          })
      }
      (omittedCount, equallyNearCount) = (explanation.omittedCount, explanation.equallyNear.count)
      nearestOutside = explanation.nearestOutside?.fullPath
    }
  }

  /// The ways of all lookups from all contexts. A lookup can withdraw what is dead, so each has a tree of its own.
  func ways() -> [Way] {
    if keys.isEmpty { return [] }
    return paths.flatMap { path in
      keys.indices.flatMap { index in
        ([nil] + UDISearch.allCases).compactMap { search in
          guard let tree = remake(), let context = tree.root.context(at: path) else { return nil }
          let key = tree.keys[index]
          return Way(path: path, key: key, search: search, key.explain(context, search))
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
