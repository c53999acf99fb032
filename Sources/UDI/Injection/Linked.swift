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
/// The property holds what it found strongly. After the object was attached again, or detached, the next read releases
/// that and looks the dependency up anew. If a lookup finds nothing, the next read tries again. If a value is set, by a
/// test for example, the property returns it until nil is set, wherever the object is attached.
///
/// A `Sendable` class cannot have such a property, because its properties cannot change: there write
/// `var clock: (any Clock)? { linkInLine((any Clock).self) }`. In an `@Observable` class add `@ObservationIgnored`.
@propertyWrapper
public struct Linked<Dependency>: KeepingWrapper {
  @usableFromInline var kept: Dependency?
  /// The attachment's stamp when the value was kept.
  @usableFromInline var stamp: UInt = 0
  @usableFromInline let request: LinkRequest

  /// Declares a dependency that is not `Sendable`. It may be used only on the main actor, which is checked at every
  /// read and write.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name, search, fileID, line, .mainActor)
  }

  /// Unavailable: the dependency comes from the object that the property is in.
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
        // If the lookup itself, for example through a factory, has set or read the property, that value stands.
        if owner[keyPath: storage].isOutOfDate(stamp) {
          let old = owner[keyPath: storage].keep(found, stamp)
          withExtendedLifetime(old) {}
        }
      }
      // The property is read again in any case: then the compiler need not retain what the property holds anyway.
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
  ///   - name: The name it is registered under, if any.
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
  /// Unavailable: the value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value, which the property cannot have.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @Linked looks the dependency up itself"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
