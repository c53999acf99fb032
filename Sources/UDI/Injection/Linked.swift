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
/// The properties of a `Sendable` class cannot change, so such a class cannot use this wrapper. Instead, write `var
/// clock: (any Clock)? { link((any Clock).self) }`. In an `@Observable` class, add `@ObservationIgnored`.
@propertyWrapper
public struct Linked<Dependency>: KeepingWrapper {
  @usableFromInline var kept: Dependency?
  /// The attachment's `stamp` at the time when the dependency was kept, or `LinkRequest.pinned` if a value was set.
  @usableFromInline var stamp: UInt = 0
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
    storage storage: ReferenceWritableKeyPath<Owner, Linked>
  ) -> Dependency? {
    @inline(__always)
    get {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let stamp = owner._attachedContext.stamp
      if owner[keyPath: storage].stamp != stamp || owner[keyPath: storage].kept == nil,
        owner[keyPath: storage].isOutOfDate(stamp)
      {
        let found = owner[keyPath: storage].request.link(Dependency.self, owner)
        // During the lookup, the property might have been set or read, for example by a factory. A value that the
        // property got in this way stays.
        if owner[keyPath: storage].isOutOfDate(stamp) {
          let old = owner[keyPath: storage].keep(found, stamp)
          withExtendedLifetime(old) {}
        }
      }
      // The value is read from the property even after a lookup. Since the property holds it, the compiler need not
      // retain it.
      return owner[keyPath: storage].kept
    }
    set {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let old = owner[keyPath: storage].keep(newValue, LinkRequest.pinned)
      withExtendedLifetime(old) {}
    }
  }
}

extension Linked where Dependency: Sendable {
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

extension Linked {
  /// Unavailable: the property cannot have an initial value, because its value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction of the search.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @Linked looks the dependency up itself"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
