/// A context and everything below it at one moment: who is bound where, alive or dead.
///
/// It is a value: it holds no object, does not change, and can be compared, sent and, with any encoder, stored. Its
/// description is a text tree:
///
/// ```
/// ▸ App
///   • Shop.Clock: SystemClock
///   ▸ Checkout
///     • Shop.Cart named "draft": dead
/// ```
public struct UDISnapshot: Sendable, Hashable, Codable {
  /// One context.
  public struct Context: Sendable, Hashable, Codable {
    /// The context's tag.
    public let tag: String
    /// The place of its parent in ``UDISnapshot/contexts``; nil for the first.
    public let parent: Int?
    /// What is bound in it, in the order in which it was bound.
    public let bindings: [Binding]
  }

  /// One binding.
  public struct Binding: Sendable, Hashable, Codable {
    /// The type it is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The name it is registered under, if any, as its description.
    public let name: String?
    /// The class of the bound object; nil if that is dead.
    public let className: String?
    /// The file of the call that bound it, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, from 1.
    public let line: Int
  }

  /// The contexts, breadth-first: each after its parent.
  public let contexts: [Context]
}

extension UDIContext {
  /// Takes a picture of this context and everything below it.
  ///
  /// - Returns: A value that holds no object.
  /// - Complexity: O(contexts and bindings).
  public func snapshot() -> UDISnapshot {
    // Under the lock only what is needed is noted: objects are let go of, and texts made, after it.
    let notes = change { node, garbage in
      BreadthFirst(node).map { element in
        var bindings: [(binding: UDI.Binding, className: Any.Type?)] = []
        element.node.bindings.forEachEntry { entry in
          let (binding, object) = (entry.object.binding, entry.object.object)
          bindings.append((binding, object.map { type(of: $0) }))
          if let object { garbage.add(object) }
        }
        return (tag: element.node.tag, parent: element.parent, bindings: bindings)
      }
    }
    return UDISnapshot(
      contexts: notes.map { note in
        let bindings = note.bindings.sorted { $0.binding.serial < $1.binding.serial }.map { binding, className in
          UDISnapshot.Binding(
            typeName: binding.key.type.name, name: binding.key.name?.description,
            className: className.map { String(describing: $0) }, fileID: binding.site.fileID, line: binding.site.line)
        }
        return UDISnapshot.Context(tag: note.tag, parent: note.parent, bindings: bindings)
      })
  }
}

extension UDISnapshot: CustomStringConvertible {
  /// The text tree. Below 32 levels lines are no longer indented further but begin with their level.
  public var description: String {
    var children: [[Int]] = Array(repeating: [], count: contexts.count)
    for (index, context) in contexts.enumerated() {
      // Always before its children; a snapshot that was decoded from elsewhere might say anything.
      if let parent = context.parent, 0..<index ~= parent { children[parent].append(index) }
    }
    var lines: [String] = []
    // A stack of its own: a tree may be deeper than the thread's.
    var pending = contexts.isEmpty ? [] : [(index: 0, level: 0)]
    while let (index, level) = pending.popLast() {
      let indent = String(repeating: "  ", count: min(level, Self.deepestIndent))
      let mark = level > Self.deepestIndent ? "(\(level)) " : ""
      lines.append("\(indent)\(mark)▸ \(oneLine(contexts[index].tag))")
      for binding in contexts[index].bindings { lines.append("\(indent)  • \(binding)") }
      for child in children[index].reversed() { pending.append((child, level + 1)) }
    }
    return lines.joined(separator: "\n")
  }

  private static var deepestIndent: Int { 32 }
}

extension UDISnapshot.Binding: CustomStringConvertible {
  /// The key, and the class of the object or "dead": `Shop.Clock: SystemClock`.
  public var description: String {
    "\(name.map { "\(typeName) named \($0)" } ?? typeName): \(className ?? "dead")"
  }
}
