/// The result of a step of a lookup. It does not depend on the dependency's type, so the lookup is compiled once for
/// all types. The callers turn it into a value of the requested type.
enum LookupAnswer {
  /// There is no live dependency.
  case nothing
  /// The dependency is in the memory that the caller passed.
  case written
  /// The object has been found, but it has to be cast to the requested type, because its stored form is not known to be
  /// that of this type.
  case object(AnyObject)
  /// The entry has been found. The caller asks it for the instance, with no lock held, because the instance has to be
  /// made or taken out of its box; or refuses it to this lookup because of the reach.
  case provided(Entry)
  /// The answer could not be decided, for one of four reasons: the entry is dead; the lookup has to be recorded; it
  /// needs a provider and has found none (`UDIContext.attemptToMake`); or the object that asks does not hold its
  /// context (`UDIAttachment.attempt`). For the last reason, the caller attempts the lookup again, from the object's
  /// effective context. For the others, it looks again under the tree lock.
  case undecided
}
