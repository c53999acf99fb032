/// The type and the optional name under which a dependency is registered and looked up.
///
/// The name distinguishes several dependencies of that type.
///
/// If a dependency is looked up in many places, declare a key. The type and the name are then written only once, and
/// callers write `context.link(.service)`.
///
/// ```swift
/// extension UDIKey<any Serving> {
///   static var service: Self { Self() }
///   static var backup: Self { Self(named: "backup") }
/// }
/// ```
///
/// `link`, `require`, `obtain`, `warmUp`, `whileAvailable` and `unregister` take keys. The verbs that offer a
/// dependency take the type and the name, and so do the wrappers: `named: UDIKey.backup.name`.
///
/// A key of a type that is not `Sendable` is made on the main actor, and is used only there. Declare such a key as
/// `@MainActor static var`.
///
/// Two keys are the same if their names are the same and `String(reflecting:)` returns the same text for their types.
/// Types of the same name therefore have different keys if they are in different modules, are nested in different
/// types, are private to different files, or have different generic arguments. For private and local types, the text is
/// reliable only within one process: it may differ between processes. Marker protocols such as `Sendable` leave no
/// trace at run time, so `any P` and `any P & Sendable` make the same key.
///
/// Keys with the same text differ in one case. If a module is linked into two images of a process, each image has its
/// own protocols, and these make different keys.
public struct UDIKey<Dependency>: Hashable, CustomStringConvertible {
  /// The name, or nil for the unnamed dependency of the type.
  public let name: UDIName?
  /// Where the key may be used: where it was made, unless the type is `Sendable`.
  @usableFromInline let reach: UDIReach

  /// Makes the key of a dependency. No context is needed.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under, normally `(any SomeProtocol).self`.
  ///   - name: Distinguishes several dependencies of this type.
  /// - Precondition: `type` is `Dependency` itself, and not a variable that contains a subclass.
  @_alwaysEmitIntoClient
  public init(_ type: Dependency.Type = Dependency.self, named name: UDIName? = nil) where Dependency: Sendable {
    self.init(type, name, .anywhere)
  }

  /// Makes, on the main actor, the key of a dependency whose type is not `Sendable`. The key stays on the main actor.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public init(_ type: Dependency.Type = Dependency.self, named name: UDIName? = nil) {
    self.init(type, name, .mainActor)
  }

  @_alwaysEmitIntoClient
  init(_ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach) {
    if type != Dependency.self { checkStaticType(type, Dependency.self) }
    (self.name, self.reach) = (name, reach)
  }

  /// Returns whether two keys of one type have the same name. It makes no difference where they were made.
  public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { name.hash(into: &hasher) }

  /// The text that `String(reflecting:)` returns for the type, for example `Shop.Cart`. For a private or local type it
  /// contains an address, which differs in each process; descriptions and messages show `(private)` instead.
  package var typeName: String { TypeIdentity.of(Dependency.self).text }

  /// The type, and the name if there is one: `Shop.Cart named "draft"`.
  public var description: String { describeKey(typeName, name?.description) }
}

extension UDIKey: Sendable where Dependency: Sendable {}

/// Stops the program if `type` is a subclass of `expected`, the static type: a key or a registration was given a
/// variable that contains the subclass. The compiler has checked only that what is registered is of the static type,
/// but lookups of the subclass would use it without a cast.
///
/// - Parameter place: Where the call is, if that is known, followed by a colon and a space.
@usableFromInline @inline(__always)
func checkStaticType(_ type: Any.Type, _ expected: Any.Type, at place: @autoclosure () -> String = "") {
  if type != expected { refuse(type, at: place()) }
}

private func refuse(_ type: Any.Type, at place: String) -> Never {
  fatalError("\(place)a variable was given that contains \(describeType(type)): write the type itself, `\(type).self`")
}
