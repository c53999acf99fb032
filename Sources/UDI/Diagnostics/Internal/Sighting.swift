/// A binding, provider or override that a context has or had, as seen under the tree lock. Explanations and snapshots
/// are made from sightings after the lock has been released.
struct Sighting {
  let kind: UDIExplanation.Finding.Kind
  /// The identity of the binding, provider or override; nil for a removed binding.
  let entry: ObjectIdentifier?
  let key: KeyIdentity
  let site: UDICallSite
  /// Where the dependency may be used. Does not matter if the object has been released.
  let reach: UDIReach
  /// The class of the object, or the type of the value.
  let instanceType: Any.Type?
  /// The object, if it is alive. The garbage that the initialiser received keeps it alive.
  let object: Unretained<AnyObject>?
  /// The provider, if this is a sighting of a provider or of an instance that a provider keeps.
  private(set) var provider: Provider?
  private(set) var failure: FactoryFailure?
  private(set) var lastDuration: Duration?
  /// The time when the binding was replaced, withdrawn, or found to be dead, if that was recorded. `endedBy` is the
  /// call that replaced or withdrew the binding.
  private(set) var goneSince: ContinuousClock.Instant?
  private(set) var endedBy: UDICallSite?
  /// If the object bound itself while recording was on, the call or the registration that had attached it.
  private(set) var attachSite: UDICallSite?

  /// - Parameters:
  ///   - instance: The instance, if it is alive.
  ///   - isBox: Whether the instance is a box (`ValueBox`), because the dependency is not an object.
  ///   - otherType: The type to use if there is no live object: the type of the value or of the released object.
  private init(
    _ kind: UDIExplanation.Finding.Kind, _ entry: Entry, _ instance: AnyObject?, isBox: Bool = false,
    _ otherType: Any.Type?, _ garbage: inout Garbage
  ) {
    self.kind = kind
    self.entry = ObjectIdentifier(entry)
    key = entry.key
    site = entry.site
    reach = entry.reach
    object = Self.held(instance, entry.reach, &garbage).flatMap { isBox ? nil : Unretained($0) }
    instanceType = object.map { type(of: $0.object) } ?? otherType
    provider = entry as? Provider
    failure = provider?.failure
    lastDuration = provider?.lastDuration
    garbage.add(entry)
  }

  init(_ binding: Binding, _ garbage: inout Garbage) {
    let object = binding.object
    let kind: UDIExplanation.Finding.Kind = object == nil ? .dead : .live
    let details = binding as? DetailedBinding
    self.init(kind, binding, object, details?.objectType, &garbage)
    attachSite = details?.attachSite
  }

  init(_ provider: Provider, _ garbage: inout Garbage) {
    let instance = provider.shown?.instance
    self.init(
      instance == nil ? .provider : .kept, provider, instance?.object, isBox: instance?.isBox ?? false,
      instance == nil ? nil : provider.madeType, &garbage)
  }

  init(_ substitute: Substitute, _ instance: Instance, _ garbage: inout Garbage) {
    self.init(
      .override, substitute, instance.object, isBox: instance.isBox, substitute.maker.madeType, &garbage)
  }

  init(_ record: RemovedBinding, of key: KeyIdentity, _ garbage: inout Garbage) {
    kind = record.kind
    entry = nil
    self.key = key
    site = record.site
    reach = record.reach
    object = Self.held(record.object, record.reach, &garbage).map { Unretained($0) }
    instanceType = record.objectType
    goneSince = record.time
    endedBy = record.endedBy
    attachSite = record.attachSite
  }

  /// Returns an object after making the garbage keep it alive.
  private static func held(_ object: AnyObject?, _ reach: UDIReach, _ garbage: inout Garbage) -> AnyObject? {
    guard let object else { return nil }
    garbage.add(object, reach)
    return object
  }

  /// Whether the binding is gone.
  var isGone: Bool { kind == .dead || kind == .replaced || kind == .withdrawn }
  /// Whether there is an instance that is alive.
  var isAlive: Bool { object != nil || kind == .kept || kind == .override }

  var className: String? { instanceType.map { "\($0)" } }

  /// Whether the object is an instance of the given type. If there is no object: whether the provider makes such
  /// instances.
  func isKind(of type: Any.Type) -> Bool {
    if let object { return isInstance(type, object.object) }
    return provider.map { $0.madeType == type || UDI.isKind($0.madeType, of: type) } ?? false
  }

  /// Whether a provider that has made nothing yet might make an instance of the given type, because this is one of the
  /// type that the provider is registered as. All objects are of some types, such as `AnyObject`; these do not count.
  func mayBecome(_ type: Any.Type) -> Bool {
    guard kind == .provider, let made = provider?.madeType, made != Any.self, made != AnyObject.self else {
      return false
    }
    return UDI.isKind(type, of: made)
  }
}

extension UDIExplanation.Finding {
  init(_ sighting: Sighting) {
    self.init(
      kind: sighting.kind, typeName: sighting.key.type.text, name: sighting.key.name?.description,
      className: sighting.className, lifetime: sighting.provider?.lifetime.name,
      argumentTypes: typeNames(sighting.provider?.argumentTypes ?? []), fileID: sighting.site.fileID,
      line: sighting.site.line, isAlive: sighting.isAlive, deadFor: sighting.goneSince?.duration(to: .now),
      attachFileID: sighting.attachSite?.fileID, attachLine: sighting.attachSite?.line,
      endFileID: sighting.endedBy?.fileID, endLine: sighting.endedBy?.line,
      failure: sighting.failure.map { .init($0) })
  }
}

extension UDIExplanation.Failure {
  fileprivate init(_ failure: FactoryFailure) {
    self.init(
      message: failure.message, argumentTypes: typeNames(failure.argumentTypes),
      age: failure.time.duration(to: .now))
  }
}

extension UDIExplanation.Cause {
  /// The cause if only `obtain` can run the factory.
  ///
  /// - Parameter failure: How the factory failed the last time, if it did.
  static func asynchronous(after failure: FactoryFailure?) -> Self {
    failure.map { .asynchronousFailed(.init($0)) } ?? .asynchronous
  }
}
