/// What a lookup returns. It does not depend on the dependency's type, so that the work is compiled once; the verbs
/// make a value of the type from it.
enum LookupAnswer {
  /// There is no live dependency.
  case nothing
  /// The value is in the memory that the caller gave.
  case written
  /// The object was found, but its stored form is not that of the requested type. A cast makes the value.
  case object(AnyObject)
  /// The entry was found. It has to be asked with no lock held: it makes the value, takes it out of its box, or refuses
  /// it to this lookup.
  case provided(Entry)
  /// What was found is dead, or might belong to another key. The caller looks up again, with no lock held.
  case dead
  /// A set-up block has to run first. The caller looks up again after that.
  case setUpPending
}
