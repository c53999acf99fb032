/// What the declaration of a dependency says.
@usableFromInline
struct LinkRequest: Sendable {
  @usableFromInline let name: UDIName?
  @usableFromInline let search: UDISearch?
  @usableFromInline let site: CallSite
  /// Whether it was declared for a `Sendable` type.
  @usableFromInline let isSendable: Bool

  /// Whether the wrapper may be used by the code that runs: what is not `Sendable` belongs to the main actor. The compiler does not
  /// check the isolation of what a property wrapper does with the object it is in.
  @usableFromInline var mayBeUsedHere: Bool { isSendable || MainActorCheck.isOnMainActor }

  @usableFromInline
  static func warning(_ type: Any.Type) -> String {
    """
    \(String(reflecting: type)) is not Sendable, so a property that links it is for the main actor alone: make the type \
    Sendable, or have the class belong to the main actor.
    """
  }

  /// Looks up from the object's context: out of line, which keeps reads of what is kept short.
  @inlinable
  @inline(never)
  func link<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject) -> Dependency? {
    owner.lookUp(type, name, search, site)
  }

  /// Looks up what must be there.
  @inlinable
  @inline(never)
  func require<Dependency>(_ type: Dependency.Type, _ owner: some UDIObject) -> Dependency {
    do { return try owner.lookUpOrThrow(type, name, search, site) } catch { stop(error, owner) }
  }

  /// Stops the program because what must be there is not.
  @usableFromInline
  func stop(_ error: any Error, _ owner: AnyObject) -> Never {
    fatalError("\(site.fileID):\(site.line): a \(type(of: owner)) cannot do without it: \(error)")
  }
}
