/// Which objects and providers need which dependencies, as far as their lookups were recorded.
///
/// While ``UDIRecording`` is on, the library records the dependencies that an object has looked up with its verbs and
/// properties, and those that a factory has looked up in the context that it was given.
extension UDISnapshot {
  /// Refers to a binding, provider or override of the snapshot.
  public struct Entry: Sendable, Hashable, Codable {
    /// The kinds of entries.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// One of ``UDISnapshot/Context/bindings``.
      case binding
      /// One of ``UDISnapshot/Context/providers``.
      case provider
      /// One of ``UDISnapshot/Context/overrides``.
      case override
    }

    /// Whether this is a binding, a provider or an override.
    public let kind: Kind
    /// The index of the entry's context in ``UDISnapshot/contexts``.
    public let context: Int
    /// The entry's index among the bindings, the providers or the overrides of that context.
    public let index: Int
  }

  /// An object that has looked up dependencies, or a provider whose factory has looked up dependencies.
  public struct Dependent: Sendable, Hashable, Codable {
    /// The kinds of dependents.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// An object that takes part in the tree.
      case object
      /// A provider.
      case provider
    }

    /// Whether the dependent is an object or a provider.
    public let kind: Kind
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
    public let entries: [Entry]
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
    public let entry: Entry?
    /// The tags of the contexts from the root to the one that contains the found entry; nil if the entry has been
    /// removed, and the dependent has not looked up a new one since.
    public let fullPath: [String]?
  }
}

extension UDISnapshot.Dependent: CustomStringConvertible {
  /// The class of the object, or the key of the provider.
  public var description: String { describeKey(typeName, name) }
}

// MARK: - Under the tree lock

/// The recorded lookups that concern some contexts, as seen under the tree lock.
struct UseSightings {
  struct Dependent {
    let sighting: DependentSighting
    let context: Int?
    let entries: [UDISnapshot.Entry]
  }

  struct Use {
    let dependent: Int
    let type: TypeIdentity
    let name: String?
    let entry: UDISnapshot.Entry?
    let path: [String]?
  }

  private(set) var dependents: [Dependent] = []
  private(set) var uses: [Use] = []

  /// Collects the recorded lookups whose dependent or dependency belongs to one of the given contexts.
  ///
  /// - Parameter contexts: The contents of the contexts, in the order of the snapshot.
  init(_ contexts: [ContextSighting], _ garbage: inout Garbage) {
    let records = UDIRecording.allUses
    if records.isEmpty { return }
    var (entries, indices): ([ObjectIdentifier: UDISnapshot.Entry], [Node: Int]) = ([:], [:])
    var entriesOfObjects: [UInt: [UDISnapshot.Entry]] = [:]
    for (index, context) in contexts.enumerated() {
      indices[context.node] = index
      let all: [(UDISnapshot.Entry.Kind, [Sighting])] = [
        (.override, context.overrides), (.binding, context.bindings), (.provider, context.providers),
      ]
      for (kind, sightings) in all {
        for (position, sighting) in sightings.enumerated() {
          let entry = UDISnapshot.Entry(kind: kind, context: index, index: position)
          if let identity = sighting.entry { entries[identity] = entry }
          if let object = sighting.object { entriesOfObjects[object.address, default: []].append(entry) }
        }
      }
    }

    var known: [ObjectIdentifier: Int] = [:]
    // A removed dependency is listed only if the dependent has not looked up a new one under the same key since.
    var live: Set<[UInt64]> = []
    var gone: [[UInt64]: (use: Use, position: Int)] = [:]
    for (position, record) in records.enumerated() {
      guard let dependent = DependentSighting(of: record, &garbage) else { continue }
      let entry = record.entry
      if let entry { garbage.add(entry) }
      let place = entry.flatMap { entry in entry.node == nil ? nil : entries[ObjectIdentifier(entry)] }
      let context = dependent.node.flatMap { indices[$0] }
      if place == nil, context == nil { continue }
      let number = known[dependent.id] ?? dependents.count
      if number == dependents.count {
        known[dependent.id] = number
        let own = dependent.object.map { entriesOfObjects[$0] ?? [] } ?? entries[dependent.id].map { [$0] } ?? []
        dependents.append(Dependent(sighting: dependent, context: context, entries: own))
      }
      let use = Use(
        dependent: number, type: record.type, name: record.name, entry: place, path: entry?.node?.fullPath)
      let wanted = [UInt64(number), record.keyID]
      if use.path == nil {
        gone[wanted] = (use, position)
      } else {
        live.insert(wanted)
        uses.append(use)
      }
    }
    // Names that are not equal can have the same description, so the order of the lookups decides in the end. Without
    // it, snapshots of a tree that has not changed could differ.
    let missing = gone.filter { !live.contains($0.key) }.map(\.value).sorted {
      ($0.use.dependent, $0.use.type.text, $0.use.name ?? "", $0.position)
        < ($1.use.dependent, $1.use.type.text, $1.use.name ?? "", $1.position)
    }
    uses += missing.map(\.use)
  }
}

// MARK: - With no lock held

extension UDISnapshot.Dependent {
  init(_ dependent: UseSightings.Dependent) {
    let sighting = dependent.sighting
    self.init(
      kind: sighting.kind, typeName: sighting.typeName, name: sighting.name, fullPath: sighting.path,
      context: dependent.context, entries: dependent.entries)
  }
}

extension UDISnapshot.Use {
  init(_ sighting: UseSightings.Use) {
    self.init(
      dependent: sighting.dependent, typeName: sighting.type.text, name: sighting.name, entry: sighting.entry,
      fullPath: sighting.path)
  }
}
