public import UDI

/// The state of a context and everything below it at one moment.
///
/// A snapshot says which objects are bound where, whether they are alive, and which providers there are.
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
public struct UDISnapshot: Sendable, Equatable, Codable {
  /// One context.
  public struct Context: Sendable, Equatable, Codable {
    /// The context's tag.
    public let tag: String
    /// The index of the context's parent in ``UDISnapshot/contexts``; nil for the first context.
    public let parent: Int?
    /// The kind of the scope, which lookups from outside do not enter; nil if the context is not a scope.
    public let scopeKind: String?
    /// The direction of lookups that begin here and name no direction.
    public let search: UDISearch
    /// The overrides, the bindings, and the providers of the context, each in the order in which they were made.
    ///
    /// With overrides, tests replace dependencies of the context. If there are several overrides for a key, the last
    /// one is in force.
    public let entries: [UDIEntry]
    /// The bindings that `UDIRecording` has recorded as removed from the context, in the order in which they were
    /// removed.
    ///
    /// A binding of a live object is not recorded if a call has removed it, such as `unbind`, or attaching the object
    /// elsewhere. Empty while recording is off.
    public let removedBindings: [UDIEntry]
  }

  /// The contexts, breadth-first. Each context comes after its parent.
  public let contexts: [Context]
  /// The objects and providers that have looked up the dependencies in ``uses``.
  ///
  /// Empty while `UDIRecording` is off.
  public internal(set) var dependents: [Dependent] = []
  /// The recorded lookups whose dependent or dependency belongs to these contexts, the oldest first.
  ///
  /// After them come the lookups whose dependency is gone. Empty while `UDIRecording` is off.
  public internal(set) var uses: [Use] = []
}

extension UDIContext {
  /// Returns a snapshot of this context and everything below it.
  ///
  /// - Returns: A value that holds no object.
  /// - Complexity: O(contexts, bindings, providers and recorded lookups).
  public func snapshot() -> UDISnapshot {
    change { node, garbage in
      let nodes = node.branch
      let indices = Dictionary(uniqueKeysWithValues: zip(nodes, nodes.indices))
      // The positions of each entry, and of the entries of each object that is alive, by address. A lookup's record has
      // the address of what it found. The garbage keeps all of these alive.
      var positions: [UInt: [UDISnapshot.Position]] = [:]
      let contexts = nodes.enumerated().map { index, node in
        let entries = node.allEntries.enumerated().map { number, source in
          let (entry, object) = source.sighted(&garbage)
          for address in [source, object].compactMap({ $0.map { UInt(bitPattern: ObjectIdentifier($0)) } }) {
            positions[address, default: []].append(UDISnapshot.Position(context: index, index: number))
          }
          return entry.timeless
        }
        return UDISnapshot.Context(
          tag: node.tag, parent: node.parent.flatMap { indices[$0] }, scopeKind: node.scopeKind, search: node.search,
          entries: entries, removedBindings: UDIRecording.records(in: node).map { $0.entry(&garbage).timeless })
      }
      var snapshot = UDISnapshot(contexts: contexts)
      snapshot.addUses(indices: indices, positions: positions, &garbage)
      return snapshot
    }
  }
}
