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
      // The entry of an override. All other instances are seen through their providers.
      case is InstanceEntry: .override
      case is Provider: present == nil ? .provider : .kept
      default: present == nil ? .dead : .live
      }
    let otherType = instance == nil ? (self as? DetailedBinding)?.objectType : maker?.madeType
    let entry = UDIEntry(kind, self, type: object.map { type(of: $0) } ?? otherType, isAlive: present != nil)
    return (entry, object)
  }

  /// The entry that user code registered: this entry itself, or its provider if the entry is an instance that a
  /// provider keeps. Nil if this entry has been removed from its context.
  var registeredEntry: Entry? {
    if node == nil { return nil }
    guard let made = self as? InstanceEntry, made.maker.id != 0 else { return self }
    return made.maker
  }

  /// The description of the entry in an audit. The garbage keeps its object alive.
  package final func described(_ garbage: inout Garbage) -> UDIEntry { sighted(&garbage).entry.timeless }
}

extension Node {
  /// The overrides, the bindings, and then the providers of this context, each in the order in which they were made.
  /// Call this under the tree lock.
  package var allEntries: [Entry] {
    var bindings: [Entry] = []
    treeLocked.bindings.forEachEntry { bindings.append($0.binding) }
    let overrides: [Entry] = treeLocked.extras?.making.overrides.compactMap(\.shown) ?? []
    return overrides + bindings.inOrder { UInt64($0.serial) } + allProviders
  }
}

extension UDIEntry {
  /// Describes what a context has or had. Call this under the tree lock.
  ///
  /// - Parameters:
  ///   - type: The class of the object, or the type of the value, if it is known.
  ///   - end: The call that replaced or withdrew the binding.
  init(_ kind: Kind, _ entry: Entry, type: Any.Type?, isAlive: Bool, endedBy end: UDICallSite? = nil) {
    let provider = entry as? Provider
    let attachSite = (entry as? DetailedBinding)?.attachSite
    self.init(
      kind: kind, typeName: entry.key.type.text, name: entry.name?.description,
      className: type.map { _typeName($0, qualified: false) }, isAlive: isAlive, lifetime: provider?.lifetime.name,
      argumentTypes: typeNames(provider?.argumentTypes ?? []), fileID: entry.site.fileID, line: entry.site.line,
      attachFileID: attachSite?.fileID, attachLine: attachSite?.line, endFileID: end?.fileID, endLine: end?.line,
      failure: provider?.failure.map { Failure($0) }, lastDuration: provider?.maker.extras?.lastDuration)
  }
}
