/// What `UDIInspector` makes snapshots of. Call everything under the tree lock, except for `explanation`.
extension Node {
  package var isScope: Bool { treeLocked.isScope }
  package var search: UDISearch { shared.search }

  /// The context's entries, and the addresses by which the entries that a lookup found are recognised: that of the
  /// entry, and that of its object if it is alive. The garbage keeps both alive.
  package func sightings(_ garbage: inout Garbage) -> [(entry: UDIEntry, addresses: [UInt])] {
    allEntries.map { source in
      let (entry, object) = source.sighted(&garbage)
      return (entry.timeless, [Unretained(source).address, object?.address].compactMap(\.self))
    }
  }

  /// The bindings that were recorded as removed from the context, in the order in which they were removed.
  package func removedBindings(_ garbage: inout Garbage) -> [UDIEntry] {
    UDIRecording.records(in: self).map { $0.entry(&garbage).timeless }
  }

  /// The keys of everything in the context, and of the bindings that were recorded as removed from it.
  package var allKeys: [KeyIdentity] { allEntries.map(\.key) + UDIRecording.records(in: self).map(\.key) }
}

extension UDIContext {
  /// Explains a lookup on the main actor.
  package func explanation(of key: KeyIdentity, _ search: UDISearch?) -> UDIExplanation {
    explanation(of: LookupRequest(key.type.firstType, .mainActor, named: key.name, search: search))
  }
}
