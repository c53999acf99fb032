extension UDIContext {
  /// Returns a snapshot of this context and everything below it.
  ///
  /// - Returns: A value that holds no object.
  /// - Complexity: O(contexts and bindings).
  public func snapshot() -> UDISnapshot {
    // While the lock is held, only the necessary facts are collected. Objects are released and texts are made after
    // that.
    let notes = change { node, garbage in
      BreadthFirst(node).map { element in
        var bindings: [(binding: UDI.Binding, className: Any.Type?)] = []
        element.node.treeLocked.bindings.forEachEntry { entry in
          let (binding, object) = (entry.binding, entry.object)
          bindings.append((binding, object.map { type(of: $0) }))
          if let object {
            Schedule.reached(.loadedToLook)
            garbage.add(object, of: binding)
          }
        }
        var providers: [(provider: UDI.Provider, isMade: Bool, failure: FactoryFailure?)] = []
        element.node.treeLocked.providers.forEach { entry in
          let instance = entry.provider.shown?.instance
          providers.append((entry.provider, instance != nil, entry.provider.failure))
          if let instance {
            Schedule.reached(.loadedToLook)
            garbage.add(instance.object, of: entry.provider)
          }
          garbage.add(entry.provider)
        }
        return (
          tag: element.node.tag, parent: element.parent, isScope: element.node.treeLocked.isScope, bindings: bindings,
          providers: providers
        )
      }
    }
    return UDISnapshot(
      contexts: notes.map { note in
        let bindings = note.bindings.sorted { $0.binding.serial < $1.binding.serial }.map { binding, className in
          UDISnapshot.Binding(
            typeName: binding.key.type.text, name: binding.key.name?.description,
            className: className.map { String(describing: $0) }, fileID: binding.site.fileID, line: binding.site.line)
        }
        let providers = note.providers.sorted { $0.provider.serial < $1.provider.serial }.map {
          provider, isMade, failure in
          UDISnapshot.Provider(
            typeName: provider.key.type.text, name: provider.key.name?.description, lifetime: provider.lifetime.name,
            isMade: isMade, lastFailure: failure?.message, fileID: provider.site.fileID, line: provider.site.line)
        }
        return UDISnapshot.Context(
          tag: note.tag, parent: note.parent, isScope: note.isScope, bindings: bindings, providers: providers)
      })
  }
}
