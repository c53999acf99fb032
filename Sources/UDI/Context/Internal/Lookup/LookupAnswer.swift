/// The result of a lookup. It does not depend on the dependency's type, so the lookup is compiled once for all types.
/// The verbs turn it into a value of the requested type.
enum LookupAnswer {
  /// There is no live dependency.
  case nothing
  /// The dependency is in the memory that the caller passed.
  case written
  /// The object has been found, but it has to be cast to the requested type, because it was stored in the form of a
  /// different type.
  case object(AnyObject)
  /// The entry has been found. The caller asks it for the instance, with no lock held: the entry makes the instance,
  /// takes it out of its box, or refuses it to this lookup.
  case provided(Entry)
  /// The attempt could not decide: the entry is dead, or might belong to a different key, or the lookup has to be
  /// recorded. The caller repeats the lookup under the tree lock.
  case undecided
}
