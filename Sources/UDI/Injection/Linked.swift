/// A dependency that is looked up from the object's effective context when it is first read, and is kept from then on.
///
/// ```swift
/// final class Screen: UDIObject {
///   let _attachedContext = UDIAttachment()
///   @Linked var clock: (any Clock)?
///   func didAttachContext() {}
/// }
/// ```
///
/// The property holds the dependency strongly. After the object has been attached again, or detached, the next read
/// repeats the lookup and releases the old dependency. If a lookup finds nothing, the next read repeats it as well. If
/// a value is set, for example by a test, the property returns it until nil is set, wherever the object is attached.
///
/// With `keeps: .weakly`, the property refers to the dependency weakly, and looks it up again after it has been
/// released. With `keeps: .never`, the property looks it up at each read.
///
/// The properties of a `Sendable` class cannot change, so such a class cannot use this wrapper. Instead, write `var
/// clock: (any Clock)? { linkInLine((any Clock).self) }`. In an `@Observable` class, add `@ObservationIgnored`.
///
/// However the property keeps the dependency, reads are not observed: no observer is notified when the dependency comes
/// or goes. To have observers notified, use ``Followed``.
@propertyWrapper
public struct Linked<Dependency> {
  @usableFromInline let link: PropertyLink

  /// Declares a dependency that need not be `Sendable`.
  ///
  /// The property may be used only on the main actor. Every read and write checks this.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - keeping: How the property keeps the dependency.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, keeps keeping: UDIKeeping = .strongly,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    link = PropertyLink(
      Dependency.self, .mainActor, named: name, search: search, keeps: keeping, at: UDICallSite(fileID, line))
  }

  /// Unavailable: this wrapper works only in a class that conforms to ``UDIObject``.
  @available(*, unavailable, message: "use it in a class that conforms to UDIObject; elsewhere write `link(P.self)`")
  public var wrappedValue: Dependency? {
    get { fatalError() }
    set { fatalError() }
  }

  /// The dependency. The compiler calls this subscript when a property with the wrapper is read or set.
  ///
  /// - Parameters:
  ///   - owner: The object that has the property.
  ///   - wrapped: The property.
  ///   - storage: The property that contains the wrapper.
  @_alwaysEmitIntoClient
  public static subscript<Owner: UDIObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency?>,
    storage storage: ReferenceWritableKeyPath<Owner, Linked>
  ) -> Dependency? {
    @inline(__always)
    get { unsafe readProperty(of: owner, owner._attachedContext, .passUnretained(owner[keyPath: storage].link)) }
    set { owner[keyPath: storage].link.set(newValue, of: owner) }
  }
}

extension Linked where Dependency: Sendable {
  /// Declares a dependency that may be used from anywhere.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - keeping: How the property keeps the dependency.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, keeps keeping: UDIKeeping = .strongly,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    link = PropertyLink(
      Dependency.self, .anywhere, named: name, search: search, keeps: keeping, at: UDICallSite(fileID, line))
  }
}

extension Linked {
  /// Unavailable: the property cannot have an initial value, because its value comes from a lookup.
  ///
  /// - Parameter wrappedValue: An initial value.
  @available(*, unavailable, message: "remove the initial value: a property with @Linked looks its value up")
  public init(
    wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil, keeps: UDIKeeping = .strongly
  ) { fatalError() }
}
