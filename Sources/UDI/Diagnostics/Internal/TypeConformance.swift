/// Whether all values of one type are also values of another: what a cast of a value would say, but without a value.
///
/// This is for diagnosis only. It handles classes and protocols, including compositions. For other types it says no,
/// and also for protocols that the runtime cannot find by name: private protocols, and those with an argument for an
/// associated type.
func isKind(_ made: Any.Type, of wanted: Any.Type) -> Bool {
  func inherits<Wanted>(from _: Wanted.Type) -> Bool { made is Wanted.Type }
  if wanted is AnyClass { return inherits(from: wanted) }
  // In a generic context, `P.Type` would be the type of `(any P).self` itself. The one that we need, `any P.Type`, has
  // a name of its own: that of `any P`, followed by "Xp" (Mangling, "Types", in the Swift repository:
  // docs/ABI/Mangling.rst).
  guard let name = _mangledTypeName(wanted), let metatypes = _typeByName(name + "Xp") else { return false }
  func isOne<Metatype>(of _: Metatype.Type) -> Bool { made is Metatype }
  return isOne(of: metatypes)
}
