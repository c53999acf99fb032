/// The arguments of a property wrapper's declaration, and the reach of the dependency.
@usableFromInline
struct LinkRequest: Sendable {
  @usableFromInline let name: UDIName?
  @usableFromInline let search: UDISearch?
  @usableFromInline let keeping: UDIKeeping
  @usableFromInline let isRequired: Bool
  @usableFromInline let site: UDICallSite
  /// Where the dependency may be used, which depends on its declared type.
  @usableFromInline let reach: UDIReach

  init(
    _ name: UDIName?, _ search: UDISearch?, _ keeping: UDIKeeping = .strongly, isRequired: Bool = false,
    _ fileID: StaticString, _ line: UInt, _ reach: UDIReach
  ) {
    self.name = name
    self.search = search
    self.keeping = keeping
    self.isRequired = isRequired
    self.reach = reach
    site = UDICallSite(fileID, line)
  }

  /// Stops the program if this code is not on the main actor.
  @usableFromInline
  func stopElsewhere(_ type: Any.Type, _ owner: AnyObject) {
    _ = MainActorCheck.isIsolated(type, "\(site.fileID):\(site.line): property of \(Swift.type(of: owner)): ")
  }

  /// Looks up a dependency from the object's effective context. If it is required, stops the program if there is none,
  /// or if its factory throws.
  ///
  /// - Parameter property: The key path of the property's storage, by which the message names the property.
  @usableFromInline
  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  func find<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject, _ property: AnyKeyPath?) -> Dependency? {
    guard isRequired else { return owner.lookUp(type, name, reach, search, site) }
    do { return try owner.lookUpOrThrow(type, name, reach, search, site) } catch {
      let place = "\(site.fileID):\(site.line)"
      if let missing = error as? UDILinkError { fatalError("\(place): \(missing.asked(by: property))") }
      let key = describeKey(TypeIdentity.of(type).text, name)
      fatalError("\(place): \(Swift.type(of: owner)) needs \(key), whose factory threw: \(error)")
    }
  }

  /// Returns the key path in debug builds, and nil in release builds. In release builds the key path is not even
  /// evaluated, because evaluating it would slow down every read of a kept value.
  @inlinable
  @inline(__always)
  static func inDebug(_ property: @autoclosure () -> AnyKeyPath) -> AnyKeyPath? {
    var made: AnyKeyPath?
    func make() -> Bool {
      made = property()
      return true
    }
    assert(make())
    return made
  }

  /// Looks up a dependency from `AppContext`.
  @usableFromInline
  func findFromApp<Dependency>(_ type: Dependency.Type) -> Dependency? {
    AppContext.lookUp(type, name, reach, search)
  }
}
