/// What a dependency is registered and asked for under: a type and, where there are several of that type, a name.
///
/// A key is worth having where a dependency is asked for in many places: its type and its name are then declared once, and callers write
/// `context.link(.service)`.
///
/// ```swift
/// extension UDIKey<any Serving> {
///   static var service: Self { Self() }
///   static var backup: Self { Self(named: "backup") }
/// }
/// ```
///
/// `link`, `linkInLine`, `require` and `unregister` take keys.
///
/// Two keys are the same exactly when `String(reflecting:)` of their types and their names are: nested, generic and
/// private types and types of the same name in different modules are told apart. For private and local types the
/// string is exact within one process, not across two. `Sendable` and other marker protocols leave no trace at run time: `any P` and
/// `any P & Sendable` are one key.
public struct UDIKey<Dependency>: Hashable, Sendable {
  /// The name, or nil for the unnamed dependency of the type.
  public let name: UDIName?

  /// Makes the key of a dependency; it can be made anywhere, without a context.
  ///
  /// - Parameters:
  ///   - type: The type the dependency is registered under, normally `(any SomeProtocol).self`.
  ///   - name: Tells apart several dependencies of that type.
  public init(_ type: Dependency.Type = Dependency.self, named name: UDIName? = nil) {
    self.name = name
  }

  /// The type as `String(reflecting:)` spells it, for example `Shop.Cart`.
  public var typeName: String { TypeIdentity.of(Dependency.self).text }
}

extension UDIKey: CustomStringConvertible {
  /// The type, and the name where there is one: `Shop.Cart named "draft"`.
  public var description: String { describeKey(typeName, name) }
}
