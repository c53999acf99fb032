/// A dependency that is looked up from the object's effective context when it is first read, and is then kept weakly.
/// After the dependency has been released, or the object has been attached again, the next read looks it up again.
///
/// ```swift
/// @WeaklyLinked var delegate: (any Delegate)?
/// ```
///
/// If a value is set, the property keeps that value, also weakly, wherever the object is attached. A dependency that is
/// not a class instance, such as a struct that a factory makes, cannot be kept weakly, so each read looks it up again.
@propertyWrapper
public struct WeaklyLinked<Dependency> {
  @usableFromInline var kept: WeakEntry?
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
    storage storage: ReferenceWritableKeyPath<Owner, WeaklyLinked>
  ) -> Dependency? {
    @inline(__always)
    get {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let stamp = owner._attachedContext.stamp
      if let kept = owner[keyPath: storage].current(stamp) { return kept }
      let found = owner[keyPath: storage].request.link(Dependency.self, owner)
      // During the lookup, the property might have been set or read, for example by a factory. A value that the
      // property got in this way stays.
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

extension WeaklyLinked {
  /// The value that a read returns without a lookup; nil if the read needs a lookup. A value that was set is never out
  /// of date, but it might have been released.
  ///
  /// - Parameter now: The attachment's current `stamp`.
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
  /// Unavailable: the property cannot have an initial value, because its value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction of the search.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @WeaklyLinked looks the dependency up itself"
  )
  public init(wrappedValue: Dependency?, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
