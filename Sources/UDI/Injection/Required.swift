/// A dependency that must be there: looked up from the object's own context when it is first read, and kept as ``Linked`` keeps it.
///
/// ```swift
/// @Required var store: any Store
/// ```
///
/// Where it is missing the program stops, and says what was looked for, from where, and what is wrong.
@propertyWrapper
public struct Required<Dependency> {
  @usableFromInline var kept: Dependency?
  /// The attachment's stamp when it was kept.
  @usableFromInline var stamp: UInt = 0
  @usableFromInline let request: LinkRequest

  /// Declares a dependency that is not `Sendable`: for the main actor alone, which debug builds check at each read.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name: name, search: search, site: CallSite(fileID, line), isSendable: false)
  }

  /// Not to be used: the dependency comes from the object that the property is in.
  @available(
    *, unavailable,
    message:
      "a property with this wrapper belongs to a class that conforms to UDIObject; elsewhere write what it does: `var x: P { get throws { try context.require(P.self) } }`"
  )
  public var wrappedValue: Dependency {
    get { preconditionFailure("unavailable") }
    set { preconditionFailure("unavailable") }
  }

  /// The dependency, as a property of a class gives it.
  ///
  /// - Parameters:
  ///   - owner: The object that the property is in.
  ///   - wrapped: The property.
  ///   - storage: Where the wrapper is.
  @inlinable
  public static subscript<Owner: UDIObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency>,
    storage storage: ReferenceWritableKeyPath<Owner, Required>
  ) -> Dependency {
    @inline(__always)
    get {
      assert(owner[keyPath: storage].request.mayBeUsedHere, LinkRequest.warning(Dependency.self))
      let stamp = owner._attachedContext.stamp
      if owner[keyPath: storage].stamp != stamp || owner[keyPath: storage].kept == nil {
        keep(owner[keyPath: storage].request.require(Dependency.self, owner), owner, storage, stamp)
      }
      // Read once more in any case, as `Linked` does; nobody else can have changed it meanwhile.
      return unsafe owner[keyPath: storage].kept.unsafelyUnwrapped
    }
    set {
      assert(owner[keyPath: storage].request.mayBeUsedHere, LinkRequest.warning(Dependency.self))
      keep(newValue, owner, storage, owner._attachedContext.stamp)
    }
  }
}

extension Required where Dependency: Sendable {
  /// Declares a dependency, to be used from anywhere.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name: name, search: search, site: CallSite(fileID, line), isSendable: true)
  }
}

extension Required {
  // Inline, so that the key path becomes a plain access to the property.
  @inlinable
  @inline(__always)
  static func keep<Owner: UDIObject>(
    _ value: Dependency, _ owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Required>, _ stamp: UInt
  ) {
    // The old value lives until the write is over: its `deinit` may touch the property.
    let old = owner[keyPath: storage].kept
    owner[keyPath: storage].kept = value
    owner[keyPath: storage].stamp = stamp
    withExtendedLifetime(old) {}
  }
}
