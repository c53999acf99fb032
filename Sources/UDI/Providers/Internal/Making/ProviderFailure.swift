/// Why a lookup gave no instance. The verbs turn the failure into a `UDILinkError`, with a cause (`cause`); `explain`
/// predicts the same causes (`Survey+Cause.swift`). An error that a factory throws is not turned into one of these; it
/// is passed on (`Provider.passOn`).
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

  /// The failure as the cause in an explanation; nil if nothing is registered.
  var cause: UDIExplanation.Cause? {
    switch self {
    case .nothing: nil
    case .returnedNil: .factoryReturnedNil
    case .isolatedElsewhere(let isolation): .isolatedElsewhere(isolation.name)
    case .asynchronous(let provider): .asynchronous(Tree.change { _ in provider.failure }.map { .init($0) })
    case .explained(let cause): cause
    }
  }
}

extension Error {
  /// The reason for which a lookup failed; nil if the error gives none.
  private var reason: UDIExplanation.Cause? { (self as? UDILinkError)?.cause ?? (self as? ProviderFailure)?.cause }

  /// Whether the error says that making a dependency requires the dependency itself, or too many others.
  var isCycleOrTooDeep: Bool { if case .cycle = reason { true } else if case .tooDeep = reason { true } else { false } }

  /// Whether the error says that a context is closed or being closed.
  var isOfClosed: Bool { if case .contextClosed = reason { true } else { false } }

  /// Whether the error says that something is missing that may come later.
  var isOfMissing: Bool {
    if case .noScope = reason { return true }
    return (self as? UDILinkError).map { $0.chain.last?.fileID == nil || $0.cause == .factoryReturnedNil } ?? false
  }

  /// Whether the error says that the missing dependency is one that `obtain` would make.
  var needsObtain: Bool { reason?.needsObtain == true }

  /// Whether the error says that only another actor, or a task that waits, can make the missing dependency.
  var isOnlyHere: Bool { reason?.isOnlyHere == true }
}
