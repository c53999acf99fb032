/// Why a provider did not give an instance. The verbs turn this into a `UDILinkError`. What a factory itself throws is
/// passed on unchanged.
enum ProviderFailure: Error {
  case cycle([KeyIdentity])
  case returnedNil
  /// The factory belongs to an actor, and the lookup runs elsewhere.
  case isolatedElsewhere(Isolation)
  /// The factory is asynchronous, and nothing that it made is kept.
  case asynchronous(Unmade)
  /// An argument might not be `Sendable`, although the factory was promised that it is; with the argument's type.
  case argumentNotSendable(Any.Type)
  /// The lookup is for a `Sendable` type, but what it found was registered as something that is not `Sendable`.
  case notSendable
  case arguments(wanted: [Any.Type], given: [Any.Type])
  /// Some arguments are not `Hashable`, so an instance that is kept for them could not be told from others; with the
  /// types of these arguments.
  case unhashable([Any.Type])
  case notConvertible(from: Any.Type)
  /// The provider's context is being closed; with the context's path.
  case closed([String])
  /// The lookup found nothing of the type that was asked for.
  case nothing
}
