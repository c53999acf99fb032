import UDI

/// The objects and providers, and the dependencies that they need, as far as their lookups were recorded.
///
/// While `UDIRecording` is on, the library records the dependencies that an object has looked up with its verbs and
/// properties. It also records those that a factory has looked up in the context that it was given.
extension UDISnapshot {
  /// The place of an entry in a snapshot.
  public struct Position: Sendable, Hashable, Codable {
    /// The index of the entry's context in ``UDISnapshot/contexts``.
    public let context: Int
    /// The entry's index in the ``UDISnapshot/Context/entries`` of that context.
    public let index: Int
  }

  /// An object that has looked up dependencies, or a provider whose factory has done so.
  public struct Dependent: Sendable, Equatable, Codable, CustomStringConvertible {
    /// Whether the dependent is a provider. Otherwise, it is an object that takes part in the tree.
    public let isProvider: Bool
    /// The class of the object, or the type that the provider is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the provider is registered under; nil if there is none.
    public let name: String?
    /// The tags of the contexts from the root to the one that the object is attached to, or that the provider is
    /// registered in. Empty if the object is not attached.
    public let fullPath: [String]
    /// The index, in ``UDISnapshot/contexts``, of the context at the end of `fullPath`; nil if it is not part of the
    /// snapshot.
    public let context: Int?
    /// The entries that are the dependent itself: the provider, or, for an object, its bindings and the providers that
    /// keep it. Empty if the snapshot does not contain any.
    public let entries: [Position]

    /// The class of the object, or the key of the provider.
    public var description: String { describeKey(typeName, name) }
  }

  /// The record that a dependent has looked up a dependency.
  public struct Use: Sendable, Equatable, Codable {
    /// The index of the dependent in ``UDISnapshot/dependents``.
    public let dependent: Int
    /// The type that was looked up, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that was looked up; nil if there was none.
    public let name: String?
    /// The entry that the lookup found; nil if it is not part of the snapshot.
    public let entry: Position?
    /// The tags of the contexts from the root to the one that contains the found entry.
    ///
    /// Nil if the entry has been removed, and the dependent has not looked up a new one since.
    public let fullPath: [String]?
  }

  // MARK: - Under the tree lock

  /// Adds the recorded lookups that began in one of the contexts, or found something there, and whose dependent or
  /// dependency belongs to one of them.
  ///
  /// - Parameters:
  ///   - indices: The indices of the contexts.
  ///   - positions: The positions of each entry, and of the entries of each object, by the address of the entry or the
  ///     object.
  mutating func addUses(indices: [Node: Int], positions: [UInt: [Position]], _ garbage: inout Garbage) {
    var numbers: [ObjectIdentifier: Int] = [:]
    // With the number of the dependent and of the key.
    var all: [(use: Use, wanted: [UInt64])] = []
    let related = UDIRecording.uses { use in
      indices[use.node] != nil || positions[use.entryAddress] != nil || positions[use.dependentAddress] != nil
    }
    for recorded in related {
      guard let seen = recorded.sighting(&garbage) else { continue }
      let key = recorded.key
      let path = recorded.found(&garbage)?.place?.fullPath
      let entry = path == nil ? nil : positions[recorded.entryAddress]?.first
      let context = seen.node.flatMap { indices[$0] }
      if entry == nil, context == nil { continue }
      let number = numbers[seen.id] ?? dependents.count
      if number == dependents.count {
        numbers[seen.id] = number
        let dependent = seen.dependent
        dependents.append(
          Dependent(
            isProvider: dependent.isProvider, typeName: dependent.typeName, name: dependent.name,
            fullPath: dependent.fullPath, context: context, entries: positions[seen.address] ?? []))
      }
      let use = Use(
        dependent: number, typeName: key.typeName, name: key.name?.description, entry: entry, fullPath: path)
      all.append((use, [UInt64(number), key.id]))
    }
    let there = all.filter { $0.use.fullPath != nil }
    // A removed dependency is listed only if the dependent has not looked up a new one since.
    var listed = Set(there.map(\.wanted))
    let gone = all.reversed().filter { listed.insert($0.wanted).inserted }.map(\.use)
    uses = there.map(\.use)
    uses += gone.sorted { ($0.dependent, $0.typeName, $0.name ?? "") < ($1.dependent, $1.typeName, $1.name ?? "") }
  }
}
