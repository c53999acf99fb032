/// What a property with a wrapper was declared with: the wrapper's arguments, and the reach of the dependency.
@usableFromInline
struct LinkRequest: Sendable {
  @usableFromInline let name: UDIName?
  @usableFromInline let search: UDISearch?
  @usableFromInline let site: CallSite
  /// Where the dependency may be used, according to its declared type.
  @usableFromInline let reach: Reach

  init(_ name: UDIName?, _ search: UDISearch?, _ fileID: StaticString, _ line: UInt, _ reach: Reach) {
    self.name = name
    self.search = search
    self.reach = reach
    site = CallSite(fileID, line)
  }

  /// Stops the program, even in release builds, if something that is not `Sendable` is used off the main actor. The
  /// compiler does not check on which actor a property wrapper uses the object that it is in.
  @inlinable
  @inline(__always)
  func checkIsolation(_ type: Any.Type, _ owner: AnyObject) { if reach == .mainActor { stopElsewhere(type, owner) } }

  @usableFromInline
  func stopElsewhere(_ type: Any.Type, _ owner: AnyObject) {
    _ = MainActorCheck.isIsolated(type, "\(site.fileID):\(site.line): property of \(Swift.type(of: owner)): ")
  }

  /// The stamp of a value that was set instead of looked up.
  @usableFromInline static var pinned: UInt { .max }

  /// Looks a dependency up from the object's context. This function is not inlined, so that reads of kept values
  /// compile to little code.
  @usableFromInline
  @inline(never)
  func link<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject) -> Dependency? {
    owner.lookUp(type, name, reach, search, site)
  }

  /// Returns the key path in debug builds, and nil in release builds. In release builds the key path is not even made,
  /// because making it would slow down every read of a kept value.
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

  /// Looks up a dependency that must be there. If it is missing, the program stops.
  ///
  /// - Parameter property: The key path of the property's storage, to name the property in a message.
  @usableFromInline
  @inline(never)
  func require<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject, _ property: AnyKeyPath?) -> Dependency {
    do { return try owner.lookUpOrThrow(type, name, reach, search, site) } catch { stop(error, type, owner, property) }
  }

  /// Stops the program because the dependency is missing.
  @usableFromInline
  func stop(_ error: any Error, _ type: Any.Type, _ owner: AnyObject, _ property: AnyKeyPath?) -> Never {
    let place = "\(site.fileID):\(site.line)"
    if let missing = error as? UDILinkError { fatalError("\(place): \(missing.asked(by: property))") }
    let key = describeKey(TypeIdentity.of(type).text, name)
    fatalError("\(place): \(Swift.type(of: owner)) needs \(key), whose factory threw: \(error)")
  }
}
