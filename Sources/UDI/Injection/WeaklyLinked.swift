/// A dependency that is looked up from the object's own context when it is first read, and kept weakly. Once the
/// dependency has died, or the object has been attached again, the next read looks the dependency up anew.
///
/// ```swift
/// @WeaklyLinked var delegate: (any Delegate)?
/// ```
///
/// If a value is set, the property keeps that weakly as well, wherever the object is attached. A dependency that is not
/// a class instance can come only from a provider. The property does not keep such a dependency at all.
@propertyWrapper
public struct WeaklyLinked<Dependency> {
  @usableFromInline var kept: WeakEntry?
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
    storage storage: ReferenceWritableKeyPath<Owner, WeaklyLinked>
  ) -> Dependency? {
    @inline(__always)
    get {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let stamp = owner._attachedContext.stamp
      if let kept = owner[keyPath: storage].current(stamp) { return kept }
      let found = owner[keyPath: storage].request.link(Dependency.self, owner)
      // If a factory, for example, has set or read the property during the lookup, the property keeps that value.
      if let kept = owner[keyPath: storage].current(stamp) { return kept }
      owner[keyPath: storage].keep(found, stamp)
      return found
    }
    set {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      owner[keyPath: storage].keep(newValue, LinkRequest.pinned)
    }
  }
}

extension WeaklyLinked where Dependency: Sendable {
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

extension WeaklyLinked {
  /// What a read returns without a lookup; nil if a lookup is needed. A value that was set is never out of date, but it
  /// might be dead.
  @inlinable
  @inline(__always)
  func current(_ now: UInt) -> Dependency? {
    stamp == now || stamp == LinkRequest.pinned ? kept?.load(as: Dependency.self) : nil
  }

  @inlinable
  @inline(__always)
  mutating func keep(_ value: Dependency?, _ stamp: UInt) {
    kept = value.flatMap { value in StoredForm.of(value, as: Dependency.self).map { WeakEntry($0) } }
    self.stamp = stamp
    withExtendedLifetime(value) {}
  }
}

// MARK: - Mistakes

extension WeaklyLinked {
  /// Unavailable: the property has no initial value, because its value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value, which the property cannot have.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @WeaklyLinked looks the dependency up itself"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
