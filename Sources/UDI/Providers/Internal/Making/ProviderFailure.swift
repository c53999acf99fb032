/// Why a lookup gave no instance. The verbs turn the failure into a `UDILinkError`, with a cause
/// (`ProviderFailure.cause` in `Misses.swift`); `explain` predicts the same causes (`Survey+Cause.swift`). An error
/// that a factory throws is not turned into one of these; it is passed on (`Provider.passOn`).
enum ProviderFailure: Error {
  /// The lookup found nothing of the type that was asked for.
  case nothing
  case returnedNil
  /// The factory belongs to an actor, and the lookup runs elsewhere.
  case isolatedElsewhere(Isolation)
  /// The factory is asynchronous, and the provider has no instance to give, or a fresh one is wanted.
  case asynchronous(Provider)
  /// Any other reason.
  case explained(UDIExplanation.Cause)

  static func cycle(_ keys: [KeyIdentity]) -> Self { .explained(.cycle(keys.map(\.description))) }
  static func notConvertible(from made: Any.Type) -> Self {
    .explained(.notConvertible(from: TypeIdentity.of(made).text))
  }
  static func arguments(wanted: [Any.Type], given: [Any.Type]) -> Self {
    .explained(.otherArguments(wanted: typeNames(wanted), given: typeNames(given)))
  }
  /// The provider's context, which has this path, is being closed.
  static func closed(_ path: [String]) -> Self { .explained(.contextClosed(fullPath: path)) }
}
