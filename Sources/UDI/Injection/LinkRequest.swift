/// What the declaration of a dependency says.
@usableFromInline
struct LinkRequest: Sendable {
  @usableFromInline let name: UDIName?
  @usableFromInline let search: UDISearch?
  @usableFromInline let site: CallSite
  /// Whether it was declared for a `Sendable` type.
  @usableFromInline let reach: Reach

  /// Stops the program, in release builds too, where what is not `Sendable` is used off the main actor: the compiler does not check the
  /// isolation of what a property wrapper does with the object it is in.
  @inlinable
  @inline(__always)
  func checkIsolation(_ type: Any.Type, _ owner: AnyObject) { if reach == .mainActor { stopElsewhere(type, owner) } }

  @usableFromInline
  func stopElsewhere(_ type: Any.Type, _ owner: AnyObject) {
    _ = MainActorCheck.isIsolated(type, "\(site.fileID):\(site.line): property of a \(Swift.type(of: owner)): ")
  }

  /// The stamp of what was set and not looked up.
  @usableFromInline static var pinned: UInt { .max }

  /// Looks up from the object's context: out of line, which keeps reads of what is kept short.
  @usableFromInline
  @inline(never)
  func link<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject) -> Dependency? {
    owner.lookUp(type, name, reach, search, site)
  }

  /// A key path in debug builds. In release builds it is not even made: a read of what is kept would pay for it.
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

  /// Looks up what must be there.
  ///
  /// - Parameter property: What is stored for the property, to name it in a message.
  @usableFromInline
  @inline(never)
  func require<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject, _ property: AnyKeyPath?) -> Dependency {
    do { return try owner.lookUpOrThrow(type, name, reach, search, site) } catch { stop(error, type, owner, property) }
  }

  /// Stops the program because what must be there is not.
  @usableFromInline
  func stop(_ error: any Error, _ type: Any.Type, _ owner: AnyObject, _ property: AnyKeyPath?) -> Never {
    let place = "\(site.fileID):\(site.line)"
    if let missing = error as? UDILinkError { fatalError("\(place): \(missing.asked(by: property))") }
    let key = describeKey(TypeIdentity.of(type).text, name)
    fatalError("\(place): \(Swift.type(of: owner)) needs \(key), whose factory threw: \(error)")
  }
}
