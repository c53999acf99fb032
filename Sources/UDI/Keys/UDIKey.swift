/// What a dependency is registered and looked up under: a type and, if there are several of that type, a name.
///
/// If a dependency is looked up in many places, declare a key. Then the type and the name are written only once, and
/// callers write `context.link(.service)`.
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
/// Two keys are the same exactly if their names are the same and `String(reflecting:)` spells their types in the same
/// way. So types of the same name have different keys if they are in different modules, nested in different types, or
/// private to different files, or if their generic arguments differ. For private and local types, the spelling is
/// reliable only within one process; another process may spell them differently. `Sendable` and other marker protocols
/// leave no trace at run time: `any P` and `any P & Sendable` are the same key.
/// If a module is linked into two images of a process, each image has protocols of its own. They are different keys,
/// although they are spelt in the same way.
public struct UDIKey<Dependency>: Hashable, Sendable {
  /// The name, or nil for the unnamed dependency of the type.
  public let name: UDIName?

  /// Makes the key of a dependency; this is possible anywhere, without a context.
  ///
  /// - Parameters:
  ///   - type: The type the dependency is registered under, normally `(any SomeProtocol).self`.
  ///   - name: Tells dependencies of that type apart.
  public init(_ type: Dependency.Type = Dependency.self, named name: UDIName? = nil) {
    self.name = name
  }

  /// The type as `String(reflecting:)` spells it, for example `Shop.Cart`.
  public var typeName: String { TypeIdentity.of(Dependency.self).text }
}

extension UDIKey: CustomStringConvertible {
  /// The type, and the name if there is one: `Shop.Cart named "draft"`.
  public var description: String { describeKey(typeName, name) }
}
