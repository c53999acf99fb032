/// The arguments of a property wrapper's declaration, and the reach of the dependency.
@usableFromInline
struct LinkRequest: Sendable {
  @usableFromInline let name: UDIName?
  @usableFromInline let search: UDISearch?
  @usableFromInline let site: CallSite
  /// Where the dependency may be used, which depends on its declared type.
  @usableFromInline let reach: Reach

  init(_ name: UDIName?, _ search: UDISearch?, _ fileID: StaticString, _ line: UInt, _ reach: Reach) {
    self.name = name
    self.search = search
    self.reach = reach
    site = CallSite(fileID, line)
  }

  /// Stops the program, even in release builds, if the dependency is not `Sendable` and this code is not on the main
  /// actor. The compiler does not check on which actor a property with a wrapper is used.
  @inlinable
  @inline(__always)
  func checkIsolation(_ type: Any.Type, _ owner: AnyObject) { if reach == .mainActor { stopElsewhere(type, owner) } }

  @usableFromInline
  func stopElsewhere(_ type: Any.Type, _ owner: AnyObject) {
    _ = MainActorCheck.isIsolated(type, "\(site.fileID):\(site.line): property of \(Swift.type(of: owner)): ")
  }

  /// The stamp of a value that was set rather than looked up.
  @usableFromInline static var pinned: UInt { .max }

  /// Looks up a dependency from the object's effective context. Not inlined, so that reads of kept values compile to
  /// little code.
  @usableFromInline
  @inline(never)
  func link<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject) -> Dependency? {
    owner.lookUp(type, name, reach, search, site)
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

  /// Looks up a dependency. Stops the program if there is none, or if its factory throws.
  ///
  /// - Parameter property: The key path of the property's storage, by which the message names the property.
  @usableFromInline
  @inline(never)
  func require<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject, _ property: AnyKeyPath?) -> Dependency {
    do { return try owner.lookUpOrThrow(type, name, reach, search, site) } catch { stop(error, type, owner, property) }
  }

  /// Stops the program, because there is no dependency or its factory has thrown.
  @usableFromInline
  func stop(_ error: any Error, _ type: Any.Type, _ owner: AnyObject, _ property: AnyKeyPath?) -> Never {
    let place = "\(site.fileID):\(site.line)"
    if let missing = error as? UDILinkError { fatalError("\(place): \(missing.asked(by: property))") }
    let key = describeKey(TypeIdentity.of(type).text, name)
    fatalError("\(place): \(Swift.type(of: owner)) needs \(key), whose factory threw: \(error)")
  }
}
