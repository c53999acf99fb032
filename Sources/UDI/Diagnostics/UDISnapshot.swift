/// The state of a context and everything below it at one moment: which objects are bound where, whether they are alive,
/// and which providers there are.
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
    /// Whether the context is a scope, which lookups from outside do not look into.
    public let isScope: Bool
    /// The direction of lookups that begin here and do not name one.
    public let search: UDISearch
    /// The overrides with which tests replace what the context has, the earliest first. If there are several for a key,
    /// the last one is in force.
    public let overrides: [Override]
    /// The bindings that ``UDIRecording`` has recorded as removed from the context, in the order in which they were
    /// removed. Not recorded are bindings of live objects that a call has removed, such as `unbind`, or attaching the
    /// object elsewhere. Empty while recording is off.
    public let removedBindings: [RemovedBinding]
    /// The bindings of the context, in the order in which they were made.
    public let bindings: [Binding]
    /// The providers of the context, in the order in which they were registered.
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
    /// The types of the arguments that the provider's factory takes besides the context.
    public let argumentTypes: [String]
    /// Whether the provider keeps an instance that it made without arguments.
    public let isMade: Bool
    /// The class of that instance, or the type of the value; nil if the provider keeps none.
    public let className: String?
    /// The message of the factory's last failure; nil if the factory has made something since, or has never failed.
    public let lastFailure: String?
    /// How long the factory took when it last made an instance while ``UDIRecording`` was on; nil if it has made none
    /// in that time.
    public let lastDuration: Duration?
    /// The file of the call that registered the provider, in the form of `#fileID`.
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
    /// The class of the bound object; nil if the object has been released.
    public let className: String?
    /// The file of the call that bound the object, in the form of `#fileID`.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
  }

  /// A binding that has been removed.
  public struct RemovedBinding: Sendable, Hashable, Codable {
    /// Why a binding was removed.
    public enum Reason: String, Sendable, Hashable, Codable {
      /// Its object has died.
      case dead
      /// Another instance was bound in its place.
      case replaced
      /// Its instance was bound in another context, or the context that its object was attached to has ended.
      case withdrawn
    }

    /// Why it was removed.
    public let reason: Reason
    /// The type that the object was bound under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the object was bound under; nil if there was none.
    public let name: String?
    /// The class of the object, if it is known.
    public let className: String?
    /// Whether the object is alive.
    public let isAlive: Bool
    /// The file of the call that bound the object, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
    /// The file of the call that replaced or withdrew the binding, as `#fileID` gives it; nil if its object has died,
    /// or if the context that its object was attached to has ended.
    public let endFileID: String?
    /// The line of that call, counted from 1.
    public let endLine: Int?
  }

  /// A value with which a test replaces what a context has under a key.
  public struct Override: Sendable, Hashable, Codable {
    /// The type that is overridden, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that is overridden; nil if there is none.
    public let name: String?
    /// The class of the object, or the type of the value.
    public let className: String
    /// The file of the call that made the override, in the form of `#fileID`.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
  }

  /// The contexts, breadth-first. Each context comes after its parent.
  public let contexts: [Context]
  /// The objects and providers that have looked up the dependencies in ``uses``. Empty while ``UDIRecording`` is off.
  public let dependents: [Dependent]
  /// The recorded lookups whose dependent or dependency belongs to these contexts, the oldest first, and then those
  /// whose dependency is gone. Empty while ``UDIRecording`` is off.
  public let uses: [Use]
}

extension UDISnapshot.Context {
  /// The tag, and whether the context is a scope.
  var label: String { oneLine(tag) + (isScope ? " (scope)" : "") }
}

extension UDISnapshot.Binding: CustomStringConvertible {
  /// The key, and the class of the object or "dead": `Shop.Clock: SystemClock`.
  public var description: String { "\(describeKey(typeName, name)): \(className ?? "dead")" }
}

extension UDISnapshot.Provider: CustomStringConvertible {
  /// The key, whether an instance is kept, the lifetime, and the factory's last failure: `Shop.Store: made, context`.
  public var description: String {
    let failure =
      lastFailure.map {
        $0 == FactoryFailure.nilMessage ? ", returned nil last time" : ", failed last time: \(oneLine($0))"
      } ?? ""
    return "\(describeKey(typeName, name)): \(isMade ? "made" : "not made"), \(lifetime)\(failure)"
  }
}

extension UDISnapshot.Override: CustomStringConvertible {
  /// The key and the class: `Shop.Clock: FixedClock, put there by a test`.
  public var description: String {
    "\(describeKey(typeName, name)): \(className), put there by a test"
  }
}

// MARK: - Taking a snapshot

extension UDIContext {
  /// Returns a snapshot of this context and everything below it.
  ///
  /// - Returns: A value that holds no object.
  /// - Complexity: O(contexts, bindings, providers and recorded lookups).
  public func snapshot() -> UDISnapshot {
    // Under the lock, only the necessary facts are collected. Objects are released, and texts are made, later, while no
    // lock is held.
    let (seen, uses) = change { node, garbage in
      let seen = BreadthFirst(node).map { ContextSighting($0.node, parent: $0.parent, &garbage) }
      return (seen, UseSightings(seen, &garbage))
    }
    return UDISnapshot(
      contexts: seen.map { context in
        UDISnapshot.Context(
          tag: context.tag, parent: context.parent, isScope: context.isScope, search: context.search,
          overrides: context.overrides.map { .init($0) },
          removedBindings: context.removed.map { .init($0) },
          bindings: context.bindings.map { .init($0) }, providers: context.providers.map { .init($0) })
      }, dependents: uses.dependents.map { .init($0) }, uses: uses.uses.map { .init($0) })
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
      lastDuration: sighting.lastDuration, fileID: sighting.site.fileID, line: sighting.site.line)
  }
}

extension UDISnapshot.Override {
  fileprivate init(_ sighting: Sighting) {
    self.init(
      typeName: sighting.key.type.text, name: sighting.key.name?.description, className: sighting.className ?? "",
      fileID: sighting.site.fileID, line: sighting.site.line)
  }
}

extension UDISnapshot.RemovedBinding {
  fileprivate init(_ removal: ContextSighting.Removal) {
    let record = removal.record
    self.init(
      reason: record.kind == .replaced ? .replaced : record.kind == .withdrawn ? .withdrawn : .dead,
      typeName: record.type.text, name: record.name, className: record.objectType.map { "\($0)" },
      isAlive: removal.isAlive, fileID: record.site.fileID, line: record.site.line, endFileID: record.endedBy?.fileID,
      endLine: record.endedBy?.line)
  }
}
