/// A dependency that must be there. It is looked up from the object's own context when it is first read, and kept in
/// the same way as by ``Linked``.
///
/// ```swift
/// @Required var store: any Store
/// ```
///
/// If the dependency is missing, the program stops with a message that says what was looked for, from where, and what
/// is wrong. If a value is set, the property returns that value from then on, wherever the object is attached.
@propertyWrapper
public struct Required<Dependency>: KeepingWrapper {
  @usableFromInline var kept: Dependency?
  /// The stamp that the attachment had when the value was kept.
  @usableFromInline var stamp: UInt = 0
  @usableFromInline let request: LinkRequest

  // This initialiser and the one for `Sendable` types are disfavoured, so that for an optional type the compiler
  // chooses one of the deprecated initialisers below.

  /// Declares a dependency that is not `Sendable`. It may be used only on the main actor, which is checked at every
  /// read and write.
  ///
  /// - Parameters:
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  @_disfavoredOverload
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name, search, fileID, line, .mainActor)
  }

  /// Unavailable: this wrapper works only in a class that conforms to ``UDIObject``.
  @available(
    *, unavailable,
    message: "use this wrapper in a class that conforms to UDIObject; elsewhere write `try context.require(P.self)`"
  )
  public var wrappedValue: Dependency {
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
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency>,
    storage storage: ReferenceWritableKeyPath<Owner, Required>
  ) -> Dependency {
    @inline(__always)
    get {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let stamp = owner._attachedContext.stamp
      if owner[keyPath: storage].stamp != stamp || owner[keyPath: storage].kept == nil,
        owner[keyPath: storage].isOutOfDate(stamp)
      {
        let found = owner[keyPath: storage].request
          .require(Dependency.self, owner, LinkRequest.inDebug(storage))
        // If a factory, for example, has set or read the property during the lookup, the property keeps that value.
        if owner[keyPath: storage].isOutOfDate(stamp) {
          let old = owner[keyPath: storage].keep(found, stamp)
          withExtendedLifetime(old) {}
        }
      }
      // Even after a lookup, the value is read from the property, as in `Linked`. Nothing can have changed it in
      // between.
      return unsafe owner[keyPath: storage].kept.unsafelyUnwrapped
    }
    set {
      owner[keyPath: storage].request.checkIsolation(Dependency.self, owner)
      let old = owner[keyPath: storage].keep(newValue, LinkRequest.pinned)
      withExtendedLifetime(old) {}
    }
  }
}

extension Required where Dependency: Sendable {
  /// Declares a dependency that may be used from anywhere.
  ///
  /// - Parameters:
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  @_disfavoredOverload
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    request = LinkRequest(name, search, fileID, line, .anywhere)
  }
}

// These are deprecated, not unavailable: the compiler skips unavailable overloads if another one fits, and then it
// would accept an optional without a warning. `.ci/refused` checks this.
extension Required {
  /// Deprecated: a required dependency is not optional.
  ///
  /// - Parameters:
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  @available(
    *, deprecated,
    message: "what is required is not optional: write the type without the question mark, or use @Linked"
  )
  public init<Wrapped>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) where Dependency == Wrapped? {
    request = LinkRequest(name, search, fileID, line, .mainActor)
  }

  /// Deprecated: a required dependency is not optional.
  ///
  /// - Parameters:
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search; by default that of the context.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  @available(
    *, deprecated,
    message: "what is required is not optional: write the type without the question mark, or use @Linked"
  )
  public init<Wrapped: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) where Dependency == Wrapped? {
    request = LinkRequest(name, search, fileID, line, .anywhere)
  }
}

// MARK: - Mistakes

extension Required {
  /// Unavailable: the property has no initial value, because its value comes from a lookup.
  ///
  /// - Parameters:
  ///   - wrappedValue: An initial value, which the property cannot have.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction of the search.
  @available(
    *, unavailable,
    message: "remove the initial value: a property with @Required looks the dependency up itself"
  )
  public init(wrappedValue: Dependency, named name: UDIName? = nil, search: UDISearch? = nil) {
    preconditionFailure("unavailable")
  }
}
