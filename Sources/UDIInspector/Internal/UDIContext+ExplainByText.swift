package import UDI

extension UDIContext {
  /// Explains the result of a lookup, for a program that knows only the texts of the key, for example from a snapshot.
  ///
  /// Wherever this method is called, it explains a lookup on the main actor. Like any lookup, it may withdraw bindings
  /// whose objects have been released. If several keys have these texts, the first one counts, in the order in which a
  /// snapshot of the tree lists them.
  ///
  /// - Parameters:
  ///   - typeName: The type that is looked up, as `String(reflecting:)` spells it.
  ///   - name: The description of the dependency's name; nil if it has none.
  ///   - search: The direction of the lookup; by default this context's search.
  /// - Returns: The explanation, or nil if nothing in this context's tree is registered under this key. A recorded
  ///   removed binding counts as registered.
  /// - Complexity: The same as for ``explain(_:named:search:with:)``, and O(bindings and providers of the tree).
  package func explain(typeNamed typeName: String, named name: String?, search: UDISearch?) -> UDIExplanation? {
    let keys = change { node, _ in
      node.root.branch.flatMap { $0.allEntries.map(\.key) + UDIRecording.records(in: $0).map(\.key) }
    }
    guard let key = keys.first(where: { $0.typeName == typeName && $0.name?.description == name }) else { return nil }
    // The code that asks may run on any thread, for example in a server. The lookup itself would run on the main actor.
    return explanation(of: key, search)
  }
}
