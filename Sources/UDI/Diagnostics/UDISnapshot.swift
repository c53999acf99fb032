/// A context and everything below it at one moment: which objects are bound where, whether they are alive, and what can
/// be made.
///
/// A snapshot is a value: it holds no object, does not change, and can be compared, sent and, with any encoder, stored.
/// Its description is a text tree:
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
    /// The index of the context's parent in ``UDISnapshot/contexts``; nil for the first context.
    public let parent: Int?
    /// Whether the context is a scope, which nobody outside can see into.
    public let isScope: Bool
    /// The direction of lookups that begin here and name none.
    public let search: UDISearch
    /// Whether a set-up block of the context has not run yet. The first lookup that reaches the context runs it.
    public let isSetUpPending: Bool
    /// What tests have put in the place of what the context has, in the order in which they did. If there are several
    /// overrides with one key, the last one is in force.
    public let overrides: [Override]
    /// What is bound in the context, in the order in which it was bound.
    public let bindings: [Binding]
    /// The providers that are registered in the context, in the order in which they were registered.
    public let providers: [Provider]
  }

  /// One provider.
  public struct Provider: Sendable, Hashable, Codable {
    /// The type that the provider is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the provider is registered under; nil if there is none.
    public let name: String?
    /// The name of the provider's lifetime.
    public let lifetime: String
    /// The types of the arguments that the provider wants besides the context.
    public let argumentTypes: [String]
    /// Whether the provider keeps an instance that it made without arguments.
    public let isMade: Bool
    /// The class of that instance, or the type of the value; nil if the provider keeps none.
    public let className: String?
    /// The message of the error with which the factory failed the last time; nil if the provider has made something
    /// since, or never failed.
    public let lastFailure: String?
    /// The file of the call that registered the provider, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
  }

  /// One binding.
  public struct Binding: Sendable, Hashable, Codable {
    /// The type that the object is bound under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the object is bound under; nil if there is none.
    public let name: String?
    /// The class of the bound object; nil if the object is dead.
    public let className: String?
    /// The file of the call that bound the object, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
  }

  /// What a test has put in the place of what a context has.
  public struct Override: Sendable, Hashable, Codable {
    /// The type under which it is found, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name under which it is found; nil if there is none.
    public let name: String?
    /// The class of the object, or the type of the value.
    public let className: String
    /// The file of the call that made the override, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
  }

  /// The contexts, breadth-first. Each context comes after its parent.
  public let contexts: [Context]
}

extension UDISnapshot.Context {
  /// The tag, and whether the context is a scope.
  var label: String { oneLine(tag) + (isScope ? " (scope)" : "") }
}

extension UDISnapshot.Binding: CustomStringConvertible {
  /// The key, then the class of the object, or "dead": `Shop.Clock: SystemClock`.
  public var description: String { "\(describeKey(typeName, name)): \(className ?? "dead")" }
}

extension UDISnapshot.Provider: CustomStringConvertible {
  /// The key, whether an instance is kept, the lifetime, and how the factory failed: `Shop.Store: made, context`.
  public var description: String {
    let failure = lastFailure.map { ", failed last time: \(oneLine($0))" } ?? ""
    return "\(describeKey(typeName, name)): \(isMade ? "made" : "not made"), \(lifetime)\(failure)"
  }
}

extension UDISnapshot.Override: CustomStringConvertible {
  /// The key, then the class, or "nothing": `Shop.Clock: FixedClock, put there by a test`.
  public var description: String {
    "\(describeKey(typeName, name)): \(className), put there by a test"
  }
}

// MARK: - Taking a snapshot

extension UDIContext {
  /// Returns a snapshot of this context and everything below it.
  ///
  /// - Returns: A value that holds no object.
  /// - Complexity: O(contexts and bindings).
  public func snapshot() -> UDISnapshot {
    // Only the necessary facts are collected while the lock is held. Objects are released, and texts are made, after
    // that.
    let seen = change { node, garbage in
      BreadthFirst(node).map { element in
        let node = element.node
        var (bindings, providers): ([UDI.Binding], [UDI.Provider]) = ([], [])
        node.treeLocked.bindings.forEachEntry { bindings.append($0.binding) }
        node.treeLocked.providers.forEach { providers.append($0.provider) }
        let overrides = node.treeLocked.extras?.overrides ?? []
        return (
          tag: node.tag, parent: element.parent, isScope: node.treeLocked.isScope, search: node.shared.search,
          isSetUpPending: node.shared.pendingSetUps.contains(.own),
          overrides: overrides.compactMap { entry in entry.instance.map { Sighting(entry, $0, &garbage) } },
          bindings: bindings.sorted { $0.serial < $1.serial }.map { Sighting($0, &garbage) },
          providers: providers.sorted { $0.serial < $1.serial }.map { Sighting($0, &garbage) }
        )
      }
    }
    return UDISnapshot(
      contexts: seen.map { context in
        UDISnapshot.Context(
          tag: context.tag, parent: context.parent, isScope: context.isScope, search: context.search,
          isSetUpPending: context.isSetUpPending, overrides: context.overrides.map { .init($0) },
          bindings: context.bindings.map { .init($0) }, providers: context.providers.map { .init($0) })
      })
  }
}

extension UDISnapshot.Binding {
  fileprivate init(_ sighting: Sighting) {
    self.init(
      typeName: sighting.key.type.text, name: sighting.key.name?.description,
      className: sighting.isAlive ? sighting.className : nil, fileID: sighting.site.fileID, line: sighting.site.line)
  }
}

extension UDISnapshot.Provider {
  fileprivate init(_ sighting: Sighting) {
    self.init(
      typeName: sighting.key.type.text, name: sighting.key.name?.description,
      lifetime: sighting.provider?.lifetime.name ?? "",
      argumentTypes: typeNames(sighting.provider?.argumentTypes ?? []), isMade: sighting.kind == .kept,
      className: sighting.kind == .kept ? sighting.className : nil, lastFailure: sighting.failure?.message,
      fileID: sighting.site.fileID, line: sighting.site.line)
  }
}

extension UDISnapshot.Override {
  fileprivate init(_ sighting: Sighting) {
    self.init(
      typeName: sighting.key.type.text, name: sighting.key.name?.description, className: sighting.className ?? "",
      fileID: sighting.site.fileID, line: sighting.site.line)
  }
}
