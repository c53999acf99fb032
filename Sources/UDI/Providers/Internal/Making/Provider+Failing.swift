import Synchronization

/// How a provider's factory failed. Keeps a text instead of the error, because the error might hold the user's objects.
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
  /// When the factory failed. If it returned nil several times in a row, this is the first of these times.
  let time: ContinuousClock.Instant

  /// Records that a factory returned nil. The record does not depend on the arguments, so there is nothing new to
  /// record if the factory returns nil again.
  init(nilOf provider: Provider) {
    reason = .returnedNil
    argumentTypes = provider.argumentTypes
    time = .now
  }

  /// Do not call this under a lock: an error's description is user code.
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

  /// Shortens a message before it is kept: the description of an error might contain everything that a server sent.
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
  /// Records that the factory failed. Do not call this under a lock.
  final func noteFailure(_ error: any Error, _ arguments: Arguments?) {
    if case ProviderFailure.returnedNil = error { return noteNil() }
    if let failure = FactoryFailure(error, arguments) { note(failure, .threw) }
  }

  /// Records that the factory returned nil. Some factories often return nil, so this takes no lock if it is recorded
  /// already.
  private final func noteNil() {
    // Return early only if no class is known. Otherwise the next success might take the fast path, which does not clear
    // the recorded failure.
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
    // Without a known class, the next success does not take the fast path, and so clears the recorded failure. The
    // class is cleared only after the outcome has been stored, and a thread that stores a class reads the outcome
    // afterwards. So no class stays known while there is a failure to clear.
    plainClass.store(.none, ordering: .sequentiallyConsistent)
  }

  /// Clears the recorded failure, because the factory has made something.
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

  /// The last failure, if nothing has been made since. If an alias has no failure of its own, the failure of the
  /// provider whose instances it serves. Under the tree lock.
  final var failure: FactoryFailure? {
    var provider = self
    while true {
      if let failure = provider.lastFailure { return failure }
      guard let alias = provider as? Alias else { return nil }
      provider = alias.target
    }
  }
}
