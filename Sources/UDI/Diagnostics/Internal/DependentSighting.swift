/// An object or provider that has looked something up (a dependent), as seen under the tree lock.
struct DependentSighting {
  /// Identifies the dependent among all that are alive.
  let id: ObjectIdentifier
  /// The class of the object; nil for a provider.
  let objectType: Any.Type?
  /// The key of the provider; nil for an object.
  let key: KeyIdentity?
  /// The node of the context that the object is attached to or that the provider is registered in. Use it only before
  /// the tree lock is released.
  let node: Node?
  let path: [String]
  /// The address of the object; nil for a provider.
  let object: UInt?

  /// - Returns: Nil if the object has been released or the provider has been removed.
  init?(of use: RecordedUse, _ garbage: inout Garbage) {
    objectType = use.objectType
    if objectType != nil {
      guard let attachment = use.attachment else { return nil }
      garbage.add(attachment)
      let context = attachment.context
      if let context { garbage.add(context) }
      (id, object, key) = (ObjectIdentifier(attachment), attachment.address, nil)
      node = context?.withNode { $0 }
    } else {
      guard let provider = use.provider else { return nil }
      garbage.add(provider)
      guard let place = provider.node else { return nil }
      (id, object, key, node) = (ObjectIdentifier(provider), nil, provider.key, place)
      garbage.add(provider.key)
    }
    path = node?.fullPath ?? []
  }

  var kind: UDISnapshot.Dependent.Kind { key == nil ? .object : .provider }
  var typeName: String { key?.type.text ?? objectType.map { TypeIdentity.of($0).text } ?? "" }
  /// The description of the provider's name. User code makes this description.
  var name: String? { key?.name?.description }
}

/// The objects and providers that have looked up one dependency, as seen under the tree lock.
struct DependentsOfOne {
  /// The first dependents that looked the dependency up, in this order; at most `limit`.
  private(set) var dependents: [DependentSighting] = []
  private(set) var count = 0

  /// The maximum number of dependents that are listed.
  private static var limit: Int { 12 }

  init() {}

  /// - Parameters:
  ///   - entry: The entry that a lookup finds now. If it is nil, all dependents count that found an entry under the key
  ///     that is gone by now.
  ///   - root: The root of the tree. If `entry` is nil, only dependents in this tree count.
  init(on entry: Entry?, _ key: KeyIdentity, in root: Node, _ garbage: inout Garbage) {
    let registered = entry?.registeredEntry
    if let registered { garbage.add(registered) }
    var known: Set<ObjectIdentifier> = []
    for use in UDIRecording.uses(of: key.id) {
      let found = use.entry
      if let found { garbage.add(found) }
      let isMeant = entry == nil ? found?.node == nil : found != nil && found === registered
      guard isMeant, let dependent = DependentSighting(of: use, &garbage) else { continue }
      if entry == nil, dependent.node?.root != root { continue }
      guard known.insert(dependent.id).inserted else { continue }
      count += 1
      if dependents.count < Self.limit { dependents.append(dependent) }
    }
  }
}
