/// The type under which a dependency is registered and looked up, with an optional name that distinguishes several
/// dependencies of that type.
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
/// `link`, `linkInLine`, `require`, `obtain`, `whileAvailable`, `unregister` and `explain` take keys.
///
/// Two keys are the same if their names are the same and `String(reflecting:)` returns the same text for
/// their types. Types of the same name therefore have different keys if they are in different modules, nested in
/// different types, private to different files, or have different generic arguments. For private and local types, the
/// text is reliable only within one process: it may differ between processes. Marker protocols such as `Sendable` leave
/// no trace at run time, so `any P` and `any P & Sendable` make the same key.
///
/// Keys with the same text differ in one case: if a module is linked into two images of a process, each image has its
/// own protocols, and these make different keys.
public struct UDIKey<Dependency>: Hashable, Sendable {
  /// The name, or nil for the unnamed dependency of the type.
  public let name: UDIName?

  /// Makes the key of a dependency. No context is needed.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under, normally `(any SomeProtocol).self`.
  ///   - name: Distinguishes several dependencies of this type.
  /// - Precondition: `type` is `Dependency`, and not a subclass that a variable contains. (Verbs that take a type use
  ///   the class in the variable.)
  @inlinable
  public init(_ type: Dependency.Type = Dependency.self, named name: UDIName? = nil) {
    if type != Dependency.self { Self.refuse(type) }
    self.name = name
  }

  @usableFromInline
  static func refuse(_ type: Dependency.Type) -> Never {
    fatalError("a key of \(Dependency.self) was made from \(type): name the class itself, as in `\(type).self`")
  }

  /// The text that `String(reflecting:)` returns for the type, for example `Shop.Cart`. For a private or local type it
  /// contains an address, which differs in each process; descriptions and messages show `(private)` instead.
  public var typeName: String { TypeIdentity.of(Dependency.self).text }
}

extension UDIKey: CustomStringConvertible {
  /// The type, and the name if there is one: `Shop.Cart named "draft"`.
  public var description: String { describeKey(typeName, name) }
}
