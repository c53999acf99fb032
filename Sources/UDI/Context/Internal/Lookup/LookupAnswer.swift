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
  /// An entry has been found whose object has been released. It has to be withdrawn, and the lookup repeated.
  case dead
  /// The lookup has to be repeated under the tree lock, because it has to be recorded, or because it needs a provider
  /// and has found none (`UDIContext.attemptToMake`).
  case lookAgain
  /// The lookup has not begun, because the object that asks does not hold its context (`UDIAttachment.attempt`). It
  /// begins in the object's effective context.
  case notBegun
}
