import UDI

/// A tree to look at, with the objects that are alive in it.
final class SampleTree {
  let name: String
  let root: UDIContext
  private(set) var held: [AnyObject] = []

  init(_ name: String, root: String) {
    self.name = name
    self.root = UDIContext(tag: root)
  }

  func hold<Object: AnyObject>(_ object: Object) -> Object {
    held.append(object)
    return object
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
