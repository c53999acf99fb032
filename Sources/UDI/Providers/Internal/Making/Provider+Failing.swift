import Synchronization

/// How a provider's factory failed. It keeps text, because the error itself may hold the user's objects.
final class FactoryFailure: Sendable {
  enum Reason {
    case threw(String)
    case returnedNil
    /// What was made does not conform to the type of an alias.
    case notConvertible(from: Any.Type)
  }

  let reason: Reason
  /// The types of the arguments that the factory was given; if it returned nil, the types that it wants.
  let argumentTypes: [Any.Type]
  /// When it failed. If the factory returned nil several times in a row, when it did so first.
  let time: ContinuousClock.Instant

  /// Records that a factory returned nil, whatever its arguments were. So there is nothing new to record if it does so
  /// again.
  init(nilOf provider: Provider) {
    reason = .returnedNil
    argumentTypes = provider.argumentTypes
    time = .now
  }

  /// Not under a lock: an error's description is user code.
  ///
  /// - Returns: Nil if the caller made a mistake and the factory did not run.
  init?(_ error: any Error, _ arguments: Arguments?) {
    switch error {
    case ProviderFailure.notConvertible(let made): reason = .notConvertible(from: made)
    case is ProviderFailure: return nil
    case let missing as UDILinkError: reason = .threw(missing.summary)
    default: reason = .threw(Self.shortened("\(error)"))
    }
    argumentTypes = arguments?.types ?? []
    time = .now
  }

  /// Shortens a message, because it is kept: an error may describe itself with everything that a server sent.
  private static func shortened(_ text: String) -> String {
    let limit = 1000
    guard let end = text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex), end < text.endIndex else {
      return text
    }
    return "\(text[..<end])…"
  }

  /// What went wrong, in words.
  var message: String {
    switch reason {
    case .threw(let text): text
    case .returnedNil: "it returned nil, and has made nothing since"
    case .notConvertible(let made): "what the provider of \(TypeIdentity.of(made).text) made does not conform"
    }
  }
}

extension Provider {
  /// Records that the factory failed. Not under a lock.
  final func noteFailure(_ error: any Error, _ arguments: Arguments?) {
    if case ProviderFailure.returnedNil = error { return noteNil() }
    if let failure = FactoryFailure(error, arguments) { note(failure, .threw) }
  }

  /// Records that the factory returned nil. That may be a frequent answer, so it takes no lock if it is recorded
  /// already.
  private final func noteNil() {
    // If a class is known, the next success might take the quick way, which would not forget the failure.
    if lastOutcome.load(ordering: .sequentiallyConsistent) == .returnedNil,
      plainClass.load(ordering: .sequentiallyConsistent) == .none
    {
      return
    }
    note(FactoryFailure(nilOf: self), .returnedNil)
  }

  private final func note(_ failure: FactoryFailure, _ outcome: Outcome) {
    Tree.change { garbage in
      if let lastFailure { garbage.add(lastFailure) }
      lastFailure = failure
      lastOutcome.store(outcome, ordering: .sequentiallyConsistent)
    }
    // Makes the next success take the longer way, where it forgets the failure. This comes after the outcome was
    // stored: whoever stores a class reads the outcome afterwards, so no class stays known while there is a failure to
    // forget.
    plainClass.store(.none, ordering: .sequentiallyConsistent)
  }

  /// Forgets the last failure, because the factory has made something.
  @inline(__always)
  final func forgetFailure() {
    if lastOutcome.load(ordering: .sequentiallyConsistent) != .made { dropFailure() }
  }

  @inline(never)
  private final func dropFailure() {
    Tree.change { garbage in
      if let lastFailure { garbage.add(lastFailure) }
      lastFailure = nil
      lastOutcome.store(.made, ordering: .sequentiallyConsistent)
    }
  }

  /// The last failure, if nothing has been made since. For an alias, also that of the provider that it serves from.
  /// Under the tree lock.
  final var failure: FactoryFailure? {
    var provider = self
    while true {
      if let failure = provider.lastFailure { return failure }
      guard let alias = provider as? Alias else { return nil }
      provider = alias.target
    }
  }
}
