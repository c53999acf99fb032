/// What a lookup returns. It does not know the dependency's type, so that the work is compiled once; the verbs make a
/// value of the type from it.
enum LookupAnswer {
  /// There is no live dependency.
  case nothing
  /// The value is in the memory that the caller gave.
  case written
  /// The object was found, and a cast makes the value: the stored form is not that of the requested type.
  case object(AnyObject)
  /// The entry was found. With no lock held, it has to make the value, take it out of its box, or say that this lookup
  /// may not have it.
  case provided(Entry)
  /// What was found is dead, or may belong to another key. The caller looks up again, with no lock held.
  case dead
  /// A set-up block has to run first. The caller looks up again after that.
  case setUpPending
}
