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
