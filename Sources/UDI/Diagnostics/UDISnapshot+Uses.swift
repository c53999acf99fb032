/// Which objects and providers need which dependencies, as far as their lookups were recorded.
///
/// While ``UDIRecording`` is on, the library records the dependencies that an object has looked up with its verbs and
/// properties, and those that a factory has looked up in the context that it was given.
extension UDISnapshot {
  /// The place of an entry in a snapshot.
  public struct Position: Sendable, Hashable, Codable {
    /// The index of the entry's context in ``UDISnapshot/contexts``.
    public let context: Int
    /// The entry's index in the ``UDISnapshot/Context/entries`` of that context.
    public let index: Int
  }

  /// An object that has looked up dependencies, or a provider whose factory has looked up dependencies.
  public struct Dependent: Sendable, Hashable, Codable {
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
    /// snapshot, and in explanations.
    public internal(set) var context: Int?
    /// The entries that are the dependent itself: the provider, or, for an object, its bindings and the providers that
    /// keep it. Empty if the snapshot does not contain any, and in explanations.
    public internal(set) var entries: [Position] = []
  }

  /// The record that a dependent has looked up a dependency.
  public struct Use: Sendable, Hashable, Codable {
    /// The index of the dependent in ``UDISnapshot/dependents``.
    public let dependent: Int
    /// The type that was looked up, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that was looked up; nil if there was none.
    public let name: String?
    /// The entry that the lookup found; nil if it is not part of the snapshot.
    public let entry: Position?
    /// The tags of the contexts from the root to the one that contains the found entry; nil if the entry has been
    /// removed, and the dependent has not looked up a new one since.
    public let fullPath: [String]?
  }
}

extension UDISnapshot.Dependent: CustomStringConvertible {
  /// The class of the object, or the key of the provider.
  public var description: String { describeKey(typeName, name) }

  /// The object's class or the provider's key, and its context, for a sentence.
  var phrase: String {
    if isProvider { return "the provider of \(self) in \(quoted(fullPath))" }
    return fullPath.isEmpty ? description : "\(self), attached to \(quoted(fullPath))"
  }
}

// MARK: - Under the tree lock

extension UDISnapshot {
  /// Adds the recorded lookups whose dependent or dependency belongs to one of the contexts.
  ///
  /// - Parameters:
  ///   - indices: The indices of the contexts.
  ///   - positions: The positions of each entry, and of the entries of each object, by the address of the entry or the
  ///     object.
  mutating func add(
    _ records: [RecordedUse], indices: [Node: Int], positions: [UInt: [Position]], _ garbage: inout Garbage
  ) {
    var numbers: [ObjectIdentifier: Int] = [:]
    // By dependent and key. A removed dependency is listed only if the dependent has not looked up a new one since.
    var listed: Set<[UInt64]> = []
    var gone: [(use: Use, wanted: [UInt64])] = []
    for record in records {
      guard let seen = record.sighting(&garbage) else { continue }
      let found = record.entry
      if let found { garbage.add(found) }
      let path = found?.node?.fullPath
      let entry = path == nil ? nil : found.flatMap { positions[Unretained($0).address]?.first }
      let context = seen.node.flatMap { indices[$0] }
      if entry == nil, context == nil { continue }
      let number = numbers[seen.id] ?? dependents.count
      if number == dependents.count {
        numbers[seen.id] = number
        dependents.append(seen.dependent)
        dependents[number].context = context
        dependents[number].entries = positions[seen.address] ?? []
      }
      let use = Use(
        dependent: number, typeName: record.key.type.text, name: record.key.name?.description, entry: entry,
        fullPath: path)
      let wanted = [UInt64(number), record.key.id]
      if path == nil {
        gone.append((use, wanted))
      } else {
        listed.insert(wanted)
        uses.append(use)
      }
    }
    uses += gone.reversed().filter { listed.insert($0.wanted).inserted }.map(\.use).sorted {
      ($0.dependent, $0.typeName, $0.name ?? "") < ($1.dependent, $1.typeName, $1.name ?? "")
    }
  }
}
