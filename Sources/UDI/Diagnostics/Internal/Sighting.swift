/// An entry that a context has, as seen under the tree lock, with what is needed later to find the cause of a lookup's
/// answer.
final class Sighting {
  let entry: UDIEntry
  /// The binding, provider or override. The garbage that the initialiser received keeps it alive.
  let source: Entry
  /// The object, if it is alive; nil for a value. The garbage that the initialiser received keeps the object alive.
  let object: Unretained<AnyObject>?

  init(_ source: Entry, _ garbage: inout Garbage) {
    let kept = (source as? Provider)?.shown ?? source as? InstanceEntry
    let instance = kept?.instance
    // Values are kept in boxes.
    let present = garbage.held(instance?.object ?? source.object, source.reach)
    object = instance?.isBox == true ? nil : present.map { Unretained($0) }
    let kind: UDIEntry.Kind =
      switch source {
      // All other instances are seen through their providers.
      case is InstanceEntry: .override
      case is Provider: present == nil ? .provider : .kept
      default: present == nil ? .dead : .live
      }
    let otherType = instance == nil ? (source as? DetailedBinding)?.objectType : kept?.maker.madeType
    entry = UDIEntry(kind, source, type: object.map { type(of: $0.object) } ?? otherType, isAlive: present != nil)
    self.source = source
    garbage.add(source)
  }

  /// The provider, if this is a sighting of a provider or of an instance that a provider keeps.
  var provider: Provider? { source as? Provider }

  /// Whether the object is an instance of the given type. If there is no object: whether, judging by its type, the
  /// provider makes such instances.
  func isKind(of type: Any.Type) -> Bool {
    if let object { return isInstance(type, object.object) }
    return provider.map { $0.madeType == type || UDI.isKind($0.madeType, of: type) } ?? false
  }

  /// Whether a provider that keeps no instance might make one of the given type, because each instance of the given
  /// type is also one of the type that the provider makes. Providers that make `Any` or `AnyObject` do not count: every
  /// object is an instance of these types.
  func mayBecome(_ type: Any.Type) -> Bool {
    guard entry.kind == .provider, let made = provider?.madeType, made != Any.self, made != AnyObject.self else {
      return false
    }
    return UDI.isKind(type, of: made)
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
  var allEntries: [Entry] {
    var (bindings, providers): ([Entry], [Entry]) = ([], [])
    treeLocked.bindings.forEachEntry { bindings.append($0.binding) }
    treeLocked.providers.forEach { providers.append($0.provider) }
    let overrides: [Entry] = treeLocked.extras?.overrides.compactMap(\.shown) ?? []
    return overrides + bindings.inOrder { UInt64($0.serial) } + providers.inOrder { UInt64($0.serial) }
  }
}
