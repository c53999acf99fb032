/// A dependency without which the object cannot work.
///
/// The dependency is looked up when the object is attached, and is held strongly until the object is attached again or
/// detached.
///
/// ```swift
/// @Required var store: any Store
/// ```
///
/// When the object is attached, the lookup comes before ``UDIObject/didAttachContext()``. If a provider makes the
/// object, the lookup comes at the end of the outermost link, before `onCreate`, so two objects can require each other.
/// Like the lookups of a factory, this lookup uses `.ancestors` unless the property names a search. If nothing is
/// found, or a factory throws, this is reported as ``UDIMisuse/Kind/needNotMet``. In a test with the trait
/// `.ownAppContext`, this is an issue.
///
/// If nothing was found, a read of the property repeats the lookup. If it still finds nothing, the program stops with a
/// message. The message names the dependency, says where the lookup began, and explains why it found nothing. If a
/// property is read before its object is attached, the dependency is looked up in ``AppContext``. In an actor, the
/// dependency is looked up when the property is first read. If a value is set, the property returns this value from
/// then on, wherever the object is attached.
@propertyWrapper
public struct Required<Dependency> {
  @usableFromInline let link: PropertyLink

  // This initialiser and the one for `Sendable` types are disfavoured, so for an optional type, the compiler chooses
  // the deprecated initialiser below.

  /// Declares a dependency that need not be `Sendable`.
  ///
  /// The property may be used only on the main actor. Every read and write checks this.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  @_disfavoredOverload
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) { link = PropertyLink(Dependency.self, .mainActor, named: name, search: search, at: UDICallSite(fileID, line)) }

  /// Unavailable: this wrapper works only in a class that conforms to ``UDIObject``.
  @available(*, unavailable, message: "use it in a class that conforms to UDIObject; elsewhere write `require(P.self)`")
  public var wrappedValue: Dependency {
    get { fatalError() }
    set { fatalError() }
  }

  /// The dependency. The compiler calls this subscript when a property with the wrapper is read or set.
  ///
  /// - Parameters:
  ///   - owner: The object that has the property.
  ///   - wrapped: The property.
  ///   - storage: The property that contains the wrapper.
  @_alwaysEmitIntoClient
  public static subscript<Owner: UDIObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency>,
    storage storage: ReferenceWritableKeyPath<Owner, Required>
  ) -> Dependency {
    @inline(__always)
    get {
      // A required dependency is there, or else the program has stopped.
      unsafe (readProperty(of: owner, owner._attachedContext, .passUnretained(owner[keyPath: storage].link))
        as Dependency?).unsafelyUnwrapped
    }
    set { owner[keyPath: storage].link.set(newValue, of: owner) }
  }
}

extension Required where Dependency: Sendable {
  /// Declares a dependency that may be used from anywhere.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  @_disfavoredOverload
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) { link = PropertyLink(Dependency.self, .anywhere, named: name, search: search, at: UDICallSite(fileID, line)) }
}

extension Required {
  // This is deprecated rather than unavailable, because the compiler ignores unavailable overloads if another one fits.
  // If it were unavailable, the compiler would accept an optional without a warning. `.ci/refused` checks this.

  /// Deprecated: a required dependency is not optional.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  @available(*, deprecated, message: "what is required is not optional: drop the question mark, or use @Linked")
  public init<Wrapped>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) where Dependency == Wrapped? {
    link = PropertyLink(Dependency.self, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
  }

  /// Unavailable: a property with this wrapper has no initial value.
  @available(*, unavailable, message: "remove the initial value: a property with @Required looks its value up")
  public init(wrappedValue: Dependency, named name: UDIName? = nil, search: UDISearch? = nil) { fatalError() }
}
