/// A dependency that is looked up from the object's own context when it is first read, and kept.
///
/// ```swift
/// final class Screen: UDIObject {
///   let _attachedContext = UDIAttachment()
///   @Linked var clock: (any Clock)?
///   func didAttachContext() {}
/// }
/// ```
///
/// The property holds strongly what it found. After the object has been attached again, or detached, the next read
/// releases what the property held and looks the dependency up anew. If a lookup finds nothing, the next read tries
/// again. If a value is set, by a test for example, the property returns it until nil is set, wherever the object is
/// attached.
///
/// A `Sendable` class cannot have such a property, because its properties cannot change: there write
/// `var clock: (any Clock)? { linkInLine((any Clock).self) }`. In an `@Observable` class add `@ObservationIgnored`.
@propertyWrapper
public struct Linked<Dependency>: KeepingWrapper {
  @usableFromInline var kept: Dependency?
  /// The stamp that the attachment had when the value was kept.
  @usableFromInline var stamp: UInt = 0
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

  /// The dependency, as the value of a property of a class.
  ///
  /// - Parameters:
  ///   - owner: The object that the property is in.
  ///   - wrapped: The property.
  ///   - storage: Where the wrapper is.
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
        // If a factory, for example, has set or read the property during the lookup, the property keeps that value.
        if owner[keyPath: storage].isOutOfDate(stamp) {
          let old = owner[keyPath: storage].keep(found, stamp)
          withExtendedLifetime(old) {}
        }
      }
      // The value is read from the property even after a lookup: the property holds it, so the compiler need not retain
      // it.
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

extension Linked {
  /// Unavailable: the property has no initial value, because its value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value, which the property cannot have.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @Linked looks the dependency up itself"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
