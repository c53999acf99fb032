extension Entry {
  /// Describes an entry that a context has. Call this under the tree lock.
  ///
  /// - Returns: The description, and the object, if it is alive; nil for a value. The garbage keeps the object and this
  ///   entry alive.
  package func sighted(_ garbage: inout Garbage) -> (entry: UDIEntry, object: AnyObject?) {
    garbage.add(self)
    let maker = self as? Provider ?? (self as? InstanceEntry)?.maker
    let instance = maker?.kept
    let present = garbage.held(instance?.object ?? object, reach)
    // Values are kept in boxes.
    let object = instance?.isBox == true ? nil : present
    let kind: UDIEntry.Kind =
      switch self {
      // All other instances are seen through their providers.
      case is InstanceEntry: .override
      case is Provider: present == nil ? .provider : .kept
      default: present == nil ? .dead : .live
      }
    let otherType = instance == nil ? (self as? DetailedBinding)?.objectType : maker?.madeType
    let entry = UDIEntry(kind, self, type: object.map { type(of: $0) } ?? otherType, isAlive: present != nil)
    return (entry, object)
  }
}

extension Garbage {
  /// Keeps an object alive that was loaded from a weak reference, which might by now be the last reference to it.
  ///
  /// - Returns: The object.
  mutating func held<Object: AnyObject>(_ object: Object?, _ reach: UDIReach = .anywhere) -> Object? {
    if let object { add(object, reach) }
    return object
  }
}

extension Node {
  /// The overrides, the bindings, and then the providers of this context, each in the order in which they were made.
  /// Call this under the tree lock.
  package var allEntries: [Entry] {
    var bindings: [Entry] = []
    treeLocked.bindings.forEachEntry { bindings.append($0.binding) }
    let overrides: [Entry] = treeLocked.extras?.overrides.compactMap(\.shown) ?? []
    return overrides + bindings.inOrder { UInt64($0.serial) } + allProviders
  }
}
