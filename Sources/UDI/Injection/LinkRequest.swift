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
  @inlinable
  @inline(never)
  func link<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject) -> Dependency? {
    owner.lookUp(type, name, reach, search, site)
  }

  /// Looks up what must be there.
  @inlinable
  @inline(never)
  func require<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject) -> Dependency {
    do { return try owner.lookUpOrThrow(type, name, reach, search, site) } catch { stop(error, owner) }
  }

  /// Stops the program because what must be there is not.
  @usableFromInline
  func stop(_ error: any Error, _ owner: AnyObject) -> Never {
    fatalError("\(site.fileID):\(site.line): a \(type(of: owner)) cannot do without it: \(error)")
  }
}
