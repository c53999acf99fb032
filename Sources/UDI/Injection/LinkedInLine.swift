/// A dependency that is looked up from the object's effective context each time it is read, and is not kept.
///
/// ```swift
/// @LinkedInLine var clock: (any Clock)?
/// ```
///
/// If a value is set, for example by a test, the property holds and returns this value until nil is set.
@propertyWrapper
public struct LinkedInLine<Dependency> {
  @usableFromInline var replacement: Dependency?
  @usableFromInline let request: LinkRequest

  /// Declares a dependency that need not be `Sendable`. The property may be used only on the main actor; every read and
  /// write checks this.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name, search, fileID, line, .mainActor)
  }

  /// Unavailable: this wrapper works only in a class that conforms to ``UDIObject``.
  @available(
    *, unavailable,
    message:
      "use this wrapper in a class that conforms to UDIObject; elsewhere write `var x: P? { context.link(P.self) }`"
  )
  public var wrappedValue: Dependency? {
    get { preconditionFailure("unavailable") }
    set { preconditionFailure("unavailable") }
  }

  /// The dependency. The compiler calls this subscript when a property with the wrapper is read or set.
  ///
  /// - Parameters:
  ///   - owner: The object that has the property.
  ///   - wrapped: The property.
  ///   - storage: The property that contains the wrapper.
  @inlinable
  public static subscript<Owner: UDIObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency?>,
    storage storage: ReferenceWritableKeyPath<Owner, LinkedInLine>
  ) -> Dependency? {
    @inline(__always)
    get {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      if let replacement = owner[keyPath: storage].replacement { return replacement }
      return owner.lookUp(
        Dependency.self, owner[keyPath: storage].request.name, owner[keyPath: storage].request.reach,
        owner[keyPath: storage].request.search,
        owner[keyPath: storage].request.site)
    }
    set {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let old = owner[keyPath: storage].replacement
      owner[keyPath: storage].replacement = newValue
      withExtendedLifetime(old) {}
    }
  }
}

extension LinkedInLine where Dependency: Sendable {
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
    request = LinkRequest(name, search, fileID, line, .anywhere)
  }
}

// MARK: - Mistakes

extension LinkedInLine {
  /// Unavailable: the property cannot have an initial value, because its value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction of the search.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @LinkedInLine looks the dependency up itself"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
