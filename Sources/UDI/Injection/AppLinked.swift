/// A dependency that is looked up from ``AppContext`` at each read, and is not kept.
///
/// Any class can use this wrapper.
///
/// ```swift
/// @AppLinked var log: (any Log)?
/// ```
///
/// Reads are not observed: no observer is notified when the dependency comes or goes. To have observers notified, use
/// ``Followed``.
///
/// If a value is set, for example by a test, the property holds and returns this value until nil is set.
@propertyWrapper
public struct AppLinked<Dependency> {
  @usableFromInline let link: PropertyLink

  /// Declares a dependency that need not be `Sendable`.
  ///
  /// The property may be used only on the main actor. Every read and write checks this.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    link = PropertyLink(
      Dependency.self, .mainActor, named: name, search: search, keeps: .never, at: UDICallSite(fileID, line))
  }

  /// Unavailable: this wrapper works only in a class.
  @available(*, unavailable, message: "use it in a class; elsewhere write `var x: P? { AppContext.link(P.self) }`")
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
  public static subscript<Owner: AnyObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency?>,
    storage storage: ReferenceWritableKeyPath<Owner, AppLinked>
  ) -> Dependency? {
    @inline(__always)
    get { unsafe readProperty(of: owner, nil, .passUnretained(owner[keyPath: storage].link)) }
    set { owner[keyPath: storage].link.set(newValue, of: owner) }
  }
}

extension AppLinked where Dependency: Sendable {
  /// Declares a dependency that may be used from anywhere.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    link = PropertyLink(
      Dependency.self, .anywhere, named: name, search: search, keeps: .never, at: UDICallSite(fileID, line))
  }
}
