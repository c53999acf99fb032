/// A context and everything below it at one moment: who is bound where, alive or dead, and what can be made.
///
/// It is a value: it holds no object, does not change, and can be compared, sent and, with any encoder, stored. Its
/// description is a text tree:
///
/// ```
/// ▸ App
///   • Shop.Clock: SystemClock
///   ◦ Shop.Store: made, context
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
    /// The providers that are registered in it, in the order in which they were registered.
    public let providers: [Provider]
  }

  /// One provider.
  public struct Provider: Sendable, Hashable, Codable {
    /// The type it is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The name it is registered under, if any, as its description.
    public let name: String?
    /// The name of its lifetime.
    public let lifetime: String
    /// Whether it keeps an instance that it made without arguments.
    public let isMade: Bool
    /// The file of the call that registered it, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, from 1.
    public let line: Int
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
        var providers: [(provider: UDI.Provider, isMade: Bool)] = []
        element.node.providers.forEach { entry in
          let made = entry.provider.shown?.made
          providers.append((entry.provider, made != nil))
          if let made { garbage.add(made.object) }
          garbage.add(entry.provider)
        }
        return (tag: element.node.tag, parent: element.parent, bindings: bindings, providers: providers)
      }
    }
    return UDISnapshot(
      contexts: notes.map { note in
        let bindings = note.bindings.sorted { $0.binding.serial < $1.binding.serial }.map { binding, className in
          UDISnapshot.Binding(
            typeName: binding.key.type.name, name: binding.key.name?.description,
            className: className.map { String(describing: $0) }, fileID: binding.site.fileID, line: binding.site.line)
        }
        let providers = note.providers.sorted { $0.provider.serial < $1.provider.serial }.map { provider, isMade in
          UDISnapshot.Provider(
            typeName: provider.key.type.name, name: provider.key.name?.description, lifetime: provider.lifetime.name,
            isMade: isMade, fileID: provider.site.fileID, line: provider.site.line)
        }
        return UDISnapshot.Context(tag: note.tag, parent: note.parent, bindings: bindings, providers: providers)
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
      for provider in contexts[index].providers { lines.append("\(indent)  ◦ \(provider)") }
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

extension UDISnapshot.Provider: CustomStringConvertible {
  /// The key, whether something is made, and the lifetime: `Shop.Store: made, context`.
  public var description: String {
    "\(name.map { "\(typeName) named \($0)" } ?? typeName): \(isMade ? "made" : "not made"), \(lifetime)"
  }
}
