/// Whether all values of one type are values of another, too: what a cast of a value would say, without having one.
///
/// For diagnosis alone. It knows of classes and protocols, also composed ones; of other types it says no, and so it does of protocols that the
/// runtime cannot find by name: private ones, and those with an argument for an associated type.
func isKind(_ made: Any.Type, of wanted: Any.Type) -> Bool {
  func inherits<Wanted>(from _: Wanted.Type) -> Bool { made is Wanted.Type }
  if wanted is AnyClass { return inherits(from: wanted) }
  // In a generic context `P.Type` would be the type of `(any P).self` itself. The one meant here, `any P.Type`, has a name of its own: that
  // of `any P`, and "Xp" behind it (Mangling, "Types", in the Swift repository: docs/ABI/Mangling.rst).
  guard let name = _mangledTypeName(wanted), let metatypes = _typeByName(name + "Xp") else { return false }
  func isOne<Metatype>(of _: Metatype.Type) -> Bool { made is Metatype }
  return isOne(of: metatypes)
}
