extension UDIContext {
  /// Explains the result of a lookup, for a program that knows only the texts of the key, for example from a snapshot.
  ///
  /// Unlike ``explain(_:named:search:)``, this method does not run set-up blocks. Like any lookup, it may withdraw
  /// bindings whose objects have been released.
  ///
  /// - Parameters:
  ///   - typeName: The type that is looked up, as `String(reflecting:)` spells it.
  ///   - name: The description of the dependency's name; nil if it has none.
  ///   - search: The direction of the lookup; by default this context's search.
  /// - Returns: The explanation, or nil if nothing in this context's tree is registered under this key. A recorded
  ///   removed binding counts as registered if the key has no name.
  /// - Complexity: The same as for ``explain(_:named:search:)``, and O(bindings and providers of the tree).
  package func explain(typeNamed typeName: String, named name: String?, search: UDISearch?) -> UDIExplanation? {
    let keys = change { node, _ in
      var keys: [ObjectIdentifier: KeyIdentity] = [:]
      func add(_ entry: Entry) { keys[ObjectIdentifier(entry.key)] = entry.key }
      for (node, _) in BreadthFirst(node.root) {
        node.treeLocked.bindings.forEachEntry { add($0.binding) }
        node.treeLocked.providers.forEach { add($0.provider) }
        node.treeLocked.extras?.overrides.forEach(add)
        // The key of a type without a name is the type's identity.
        for record in UDIRecording.allRecords(in: node) where record.name == nil {
          keys[ObjectIdentifier(record.type)] = record.type
        }
      }
      return keys.values
    }
    // The description of a name is user code, so it must not run under the lock.
    guard let key = keys.first(where: { $0.type.text == typeName && $0.name?.description == name }) else { return nil }
    var survey = change { node, _ in Survey(key, from: node, search, limit: .max) }
    defer { survey.release() }
    return survey.explanation(survey.cause(key.type.firstType, .mainActor, []))
  }
}
