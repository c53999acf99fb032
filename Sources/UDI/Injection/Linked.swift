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
/// What was found is held strongly. After the object was attached again, or detached, the next read lets go of it and looks anew. A miss
/// is not kept. A value that is set, by a test for example, is given until nil is set, wherever the object is attached.
///
/// Not in a `Sendable` class, whose properties cannot change: there write
/// `var clock: (any Clock)? { linkInLine((any Clock).self) }`. In an `@Observable` class add `@ObservationIgnored`.
@propertyWrapper
public struct Linked<Dependency> {
  @usableFromInline var kept: Dependency?
  /// The attachment's stamp when it was kept.
  @usableFromInline var stamp: UInt = 0
  @usableFromInline let request: LinkRequest

  /// Declares a dependency that is not `Sendable`: for the main actor alone, which is checked whenever it is read or set.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name: name, search: search, site: CallSite(fileID, line), reach: .mainActor)
  }

  /// Not to be used: the dependency comes from the object that the property is in.
  @available(
    *, unavailable,
    message:
      "a property with this wrapper belongs to a class that conforms to UDIObject; elsewhere write what it does: `var x: P? { context.link(P.self) }`"
  )
  public var wrappedValue: Dependency? {
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
        // Unless the lookup itself, by a factory perhaps, has set or read the property: then that stands.
        if owner[keyPath: storage].isOutOfDate(stamp) { keep(found, owner, storage, stamp) }
      }
      // Read once more in any case: then the compiler need not count a reference to what the property holds anyway.
      return owner[keyPath: storage].kept
    }
    set {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      keep(newValue, owner, storage, LinkRequest.pinned)
    }
  }
}

extension Linked where Dependency: Sendable {
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
    request = LinkRequest(name: name, search: search, site: CallSite(fileID, line), reach: .anywhere)
  }
}

extension Linked {
  /// Whether there is nothing to give without a lookup. What was set is never out of date.
  @inlinable
  func isOutOfDate(_ now: UInt) -> Bool { kept == nil || stamp != now && stamp != LinkRequest.pinned }

  // Inline, so that the key path becomes a plain access to the property.
  @inlinable
  @inline(__always)
  static func keep<Owner: UDIObject>(
    _ value: Dependency?, _ owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Linked>, _ stamp: UInt
  ) {
    // The old value lives until the write is over: its `deinit` may touch the property.
    let old = owner[keyPath: storage].kept
    owner[keyPath: storage].kept = value
    owner[keyPath: storage].stamp = stamp
    withExtendedLifetime(old) {}
  }
}

// MARK: - Mistakes

extension Linked {
  /// Not to be used: the value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value, which there is not.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take.
  @available(
    *, unavailable,
    message: "a property with @Linked has no initial value, because it is looked up: leave out what stands behind `=`"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
