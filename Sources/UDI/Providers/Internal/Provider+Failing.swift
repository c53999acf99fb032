import Synchronization

/// How a provider's factory failed: text, because the error itself may hold objects of the user's.
final class FactoryFailure: Sendable {
  enum Reason {
    case threw(String)
    case returnedNil
    /// What was made does not conform to the type of an alias.
    case notConvertible(from: Any.Type)
  }

  let reason: Reason
  /// The types of the arguments that the factory was given.
  let argumentTypes: [Any.Type]
  let time: ContinuousClock.Instant

  /// Not under a lock: an error describes itself by code of the user's.
  ///
  /// - Returns: Nil where the fault is the caller's: the factory did not run.
  init?(_ error: any Error, _ arguments: [Any]) {
    switch error {
    case ProviderFailure.returnedNil: reason = .returnedNil
    case ProviderFailure.notConvertible(let made): reason = .notConvertible(from: made)
    case is ProviderFailure: return nil
    case let missing as UDILinkError: reason = .threw(missing.summary)
    default: reason = .threw(Self.shortened("\(error)"))
    }
    argumentTypes = arguments.map { type(of: $0) }
    time = .now
  }

  /// An error may describe itself with all that a server sent, and this is kept.
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
    case .returnedNil: "it returned nil"
    case .notConvertible(let made): "what the provider of \(TypeIdentity.of(made).name) made does not conform"
    }
  }
}

extension Provider {
  /// Notes that the factory failed. Not under a lock.
  final func noteFailure(_ error: any Error, _ arguments: [Any]) {
    guard let failure = FactoryFailure(error, arguments) else { return }
    Tree.change { garbage in
      if let lastFailure { garbage.add(lastFailure) }
      lastFailure = failure
      hasFailed.store(true, ordering: .sequentiallyConsistent)
    }
    // Sends the next success the longer way, on which the failure is forgotten. After the flag, which whoever stores a class there reads
    // afterwards: so no class stays there while there is a failure to forget.
    plainClass.store(0, ordering: .sequentiallyConsistent)
    plainClassInFirstWord.store(0, ordering: .sequentiallyConsistent)
  }

  /// Forgets the last failure, because the factory has made something.
  @inline(__always)
  final func forgetFailure() {
    if hasFailed.load(ordering: .sequentiallyConsistent) { dropFailure() }
  }

  @inline(never)
  private final func dropFailure() {
    Tree.change { garbage in
      if let lastFailure { garbage.add(lastFailure) }
      lastFailure = nil
      hasFailed.store(false, ordering: .sequentiallyConsistent)
    }
  }

  /// The last failure, if nothing has been made since; of an alias, also that of the provider that it serves from. Under the tree lock.
  final var failure: FactoryFailure? {
    var provider = self
    while true {
      if let failure = provider.lastFailure { return failure }
      guard let alias = provider as? Alias else { return nil }
      provider = alias.target
    }
  }
}
