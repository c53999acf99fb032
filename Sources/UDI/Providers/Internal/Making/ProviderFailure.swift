/// Why a lookup gave no instance. The verbs turn the failure into a `UDILinkError`, with a cause
/// (`ProviderFailure.cause` in `Misses.swift`); `explain` predicts the same causes (`Survey+Cause.swift`). An error
/// that a factory throws is not turned into one of these; it is passed on (`Provider.passOn`).
enum ProviderFailure: Error {
  case cycle([KeyIdentity])
  case returnedNil
  /// The factory belongs to an actor, and the lookup runs elsewhere.
  case isolatedElsewhere(Isolation)
  /// The factory is asynchronous, and the provider has no instance to give, or a fresh one is wanted.
  case asynchronous(Unmade)
  /// An argument of this type might not be `Sendable`, although the factory was promised `Sendable` arguments.
  case argumentNotSendable(Any.Type)
  /// The lookup is for a `Sendable` type, but the dependency was registered under a type that is not `Sendable`.
  case notSendable
  case arguments(wanted: [Any.Type], given: [Any.Type])
  /// Arguments of these types are not `Hashable`, so the instance that is kept for them could not be found again.
  case unhashable([Any.Type])
  case notConvertible(from: Any.Type)
  /// The provider's context, which has this path, is being closed.
  case closed([String])
  /// The lookup found nothing of the type that was asked for.
  case nothing
}
