/// A dependency that comes and goes, and whose observers are notified when it does.
///
/// The dependency is looked up from the object's effective context at each read, and is not kept.
///
/// ```swift
/// @MainActor @Observable final class Toolbar: @MainActor UDIFinalObject {
///   let _attachedContext = UDIAttachment()
///   @ObservationIgnored @Followed var session: (any Session)?
///   var title: String { session?.user ?? "Log in" }
/// }
/// ```
///
/// The class need not be `@Observable`. A read is observed in the body of a SwiftUI view, in `withObservationTracking`,
/// and in `Observations`. After an observed read, observers are notified when a lookup would find something else. The
/// reason can be that the dependency has come, has gone, or has been replaced or made anew. It can also be that
/// contexts have moved, that the object has been attached elsewhere or detached, or that its context is closed. Once
/// its context is closed, changes above that context count. Changes to what the dependency is made of count, too, as
/// for ``UDILinking/updates(of:named:search:fileID:line:)``.
///
/// Observers are notified once, if necessary for several changes together. They are notified on the main actor if the
/// first of them has read the property there. By that time the change has been made, so the property never returns a
/// dependency that is no longer there. While the property has no observers, nothing waits for changes. Off the main
/// actor, observers are not notified of a change between a read and the end of the closure that tracks it. This is so
/// for any `@Observable` class. They are notified of the next change.
///
/// While observers are notified, the ``AppContext`` and the ``UDIReporter`` of the first of them are current. Observers
/// are not notified of changes inside the dependency, unless it is `@Observable` itself. As for
/// ``UDILinking/updates(of:named:search:fileID:line:)``, the release of an object that is not a ``UDIObject`` is
/// noticed only when its binding is next touched.
///
/// If a value is set, for example by a test, the property holds and returns this value until nil is set.
@propertyWrapper
public struct Followed<Dependency> {
  @usableFromInline let property: FollowedProperty

  /// Declares a dependency that need not be `Sendable`.
  ///
  /// The property may be used only on the main actor. Every read and write checks this.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The file of the declaration, for diagnosis.
  ///   - line: The line of the declaration, for diagnosis.
  public init(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    property = FollowedProperty(Dependency.self, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
  }

  /// Unavailable: this wrapper works only in a class that conforms to ``UDIObject``.
  @available(*, unavailable, message: "use this wrapper in a class that conforms to UDIObject")
  public var wrappedValue: Dependency? {
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
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Dependency?>,
    storage storage: ReferenceWritableKeyPath<Owner, Followed>
  ) -> Dependency? {
    @inline(__always)
    get { owner[keyPath: storage].property.value(owner._attachedContext, of: owner) }
    set { owner[keyPath: storage].property.set(newValue, of: owner) }
  }
}

extension Followed where Dependency: Sendable {
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
    property = FollowedProperty(Dependency.self, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
  }
}
