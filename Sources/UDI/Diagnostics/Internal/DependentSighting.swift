/// A dependent that has looked something up, as it is seen under the tree lock.
struct DependentSighting {
  /// Distinguishes it from the others that are alive.
  let id: ObjectIdentifier
  /// The class of the object; nil for a provider.
  let objectType: Any.Type?
  /// The key of the provider; nil for an object.
  let key: KeyIdentity?
  /// The node of the context that the object is attached to, or that the provider is registered in. It may be used only
  /// under the same section of the tree lock.
  let node: Node?
  let path: [String]
  /// The address of the object; nil for a provider.
  let object: UInt?

  /// - Returns: Nil if the dependent is gone.
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
  /// The description of the provider's name, which is user code.
  var name: String? { key?.name?.description }
}

/// Who has looked up a dependency, as it is seen under the tree lock.
struct DependentsOfOne {
  /// The first of them, in the order in which they looked it up.
  private(set) var dependents: [DependentSighting] = []
  private(set) var count = 0

  /// The maximum number of dependents that are listed.
  private static var limit: Int { 12 }

  init() {}

  /// - Parameters:
  ///   - entry: What a lookup finds now. If it finds nothing, those count whose dependency under the key is gone.
  ///   - root: The root of the tree.
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
