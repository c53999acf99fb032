/// A dependency that is looked up from ``AppContext`` at every read, in any class. The property keeps nothing.
///
/// ```swift
/// @AppLinked var log: (any Log)?
/// ```
///
/// If a value is set, by a test for example, the property holds it and returns it until nil is set.
@propertyWrapper
public struct AppLinked<Dependency> {
  @usableFromInline var replacement: Dependency?
  @usableFromInline let request: LinkRequest

  /// Declares a dependency that is not `Sendable`. It may be used only on the main actor, which is checked at every
  /// read and write.
  ///
  /// - Parameters:
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name, search, fileID, line, .mainActor)
  }

  /// Unavailable: this wrapper works only in a class.
  @available(
    *, unavailable,
    message: "use this wrapper in a class; elsewhere write `var x: P? { AppContext.link(P.self) }`"
  )
  public var wrappedValue: Dependency? {
    get { preconditionFailure("unavailable") }
    set { preconditionFailure("unavailable") }
  }

  /// The dependency, as the value of a property of a class.
  ///
  /// - Parameters:
  ///   - owner: The object that the property is in.
  ///   - wrapped: The property.
  ///   - storage: Where the wrapper is.
  @inlinable
  public static subscript<Owner: AnyObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency?>,
    storage storage: ReferenceWritableKeyPath<Owner, AppLinked>
  ) -> Dependency? {
    @inline(__always)
    get {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      if let replacement = owner[keyPath: storage].replacement { return replacement }
      return AppContext.lookUp(
        Dependency.self, owner[keyPath: storage].request.name, owner[keyPath: storage].request.reach,
        owner[keyPath: storage].request.search)
    }
    set {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let old = owner[keyPath: storage].replacement
      owner[keyPath: storage].replacement = newValue
      withExtendedLifetime(old) {}
    }
  }
}

extension AppLinked where Dependency: Sendable {
  /// Declares a dependency that may be used from anywhere.
  ///
  /// - Parameters:
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name, search, fileID, line, .anywhere)
  }
}

// MARK: - Mistakes

extension AppLinked {
  /// Unavailable: the property has no initial value, because its value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value, which the property cannot have.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @AppLinked looks the dependency up itself"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
