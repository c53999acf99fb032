/// Whether all values of the type `made` are also values of the type `wanted`. The answer is the same as that of a
/// cast, but no value is needed.
///
/// The function is only for diagnosis. As `wanted`, it handles classes and protocols, including compositions. It
/// returns false for all other types, and for protocols that the runtime cannot find by name: private protocols, and
/// protocols with an argument for an associated type, such as `any Collection<Int>`.
package func isKind(_ made: Any.Type, of wanted: Any.Type) -> Bool {
  func inherits<Wanted>(from _: Wanted.Type) -> Bool { made is Wanted.Type }
  if wanted is AnyClass { return inherits(from: wanted) }
  // In a generic context, `P.Type` would be the type of `(any P).self` itself, but the type that is needed here is `any
  // P.Type`. This type's mangled name is that of `any P`, followed by "Xp" (see "Types" in docs/ABI/Mangling.rst in the
  // Swift repository).
  guard let name = _mangledTypeName(wanted), let metatypes = _typeByName(name + "Xp") else { return false }
  func isOne<Metatype>(of _: Metatype.Type) -> Bool { made is Metatype }
  return isOne(of: metatypes)
}
