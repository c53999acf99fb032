import Synchronization

/// How a provider's factory failed, or an alias's cast. Contains a text instead of the error, because the error might
/// hold the user's objects.
final class FactoryFailure: Sendable {
  /// A description of the failure, for explanations.
  let message: String
  /// The cause, for explanations; nil if the factory threw an error.
  let cause: UDIExplanation.Cause?
  /// The types of the arguments that the factory was given.
  let argumentTypes: [Any.Type]
  /// Whether the factory had failed before, and had made nothing since. Guarded by the tree lock.
  nonisolated(unsafe) fileprivate(set) var isRepeated = false
  /// When the factory failed. If it returned nil several times in a row, the time of the first nil.
  let time = ContinuousClock.now

  /// Do not call this under a lock: the error's description is user code.
  ///
  /// - Returns: Nil if the factory did not run, for example because the arguments were of other types.
  init?(_ error: any Error, _ arguments: Arguments?) {
    switch error {
    case ProviderFailure.explained(.notConvertible(let made)):
      message = "the instance that the provider of \(describeType(made)) made does not conform"
      cause = .notConvertible(from: made)
    case ProviderFailure.returnedNil: (message, cause) = (UDIEntry.Failure.nilMessage, .factoryReturnedNil)
    case is ProviderFailure: return nil
    case let missing as UDILinkError: (message, cause) = (missing.summary, nil)
    default:
      // An error's description might contain everything that a server sent.
      let text = "\(error)"
      (message, cause) = (text.dropFirst(1000).isEmpty ? text : "\(text.prefix(1000))…", nil)
    }
    argumentTypes = arguments?.types ?? []
  }
}

extension UDIEntry.Failure {
  init(_ failure: FactoryFailure) {
    self.init(
      message: failure.message, argumentTypes: typeNames(failure.argumentTypes), age: failure.time.duration(to: .now))
  }
}

extension Provider {
  /// Records that the factory has failed, unless it was cancelled. Do not call this under a lock.
  ///
  /// - Parameters:
  ///   - context: The context that the factory was given.
  ///   - warmUp: The warm-up that the call was part of, if it was.
  /// - Returns: The error for the caller.
  final func fail(
    _ error: any Error, with arguments: Arguments?, for context: UDIContext, in warmUp: WarmUp?
  ) -> any Error {
    if error is CancellationError { return error }
    noteFailure(error, arguments)
    let error = passOn(error)
    if arguments == nil { warmUp?.note(error, of: self, for: context) }
    return error
  }

  /// Records that the factory, or an alias's cast, has failed. Do not call this under a lock.
  final func noteFailure(_ error: any Error, _ arguments: Arguments?) {
    // Some factories often return nil, so no lock is taken if the last record says the same.
    if case ProviderFailure.returnedNil = error, hasReturnedNil.load(ordering: .relaxed) { return }
    if let failure = FactoryFailure(error, arguments) { note(failure) }
  }

  /// Clears the recorded failure, because the factory has made something, or an alias's cast has succeeded.
  final func forgetFailure() { note(nil) }

  private final func note(_ failure: FactoryFailure?) {
    Tree.change { _ in
      if let failure { unsafe failure.isRepeated = extras?.lastFailure != nil }
      if failure != nil || hasExtras { ensureExtras().lastFailure = failure }
      hasFailure.store(failure != nil, ordering: .relaxed)
      hasReturnedNil.store(failure?.message == UDIEntry.Failure.nilMessage, ordering: .relaxed)
    }
  }

  /// Whether the factory has failed at least twice since it last made something.
  final var hasFailedAgain: Bool { Tree.change { _ in unsafe failure?.isRepeated == true } }

  /// The last failure; nil if there was none, or if there has been an instance since. An alias that has not failed
  /// itself has the failure of its target, the provider whose instances it serves. Call this under the tree lock.
  final var failure: FactoryFailure? { extras?.lastFailure ?? maker.extras?.lastFailure }

  /// Returns the error to throw after the factory has thrown an error. If that error is a `UDILinkError`, adds a step
  /// for this provider to its chain.
  final func passOn(_ error: any Error) -> any Error { (error as? UDILinkError).map(passOn) ?? error }

  /// Returns the same error with a step for this provider.
  package final func passOn(_ missing: UDILinkError) -> UDILinkError {
    missing.seen(
      from: .init(
        isProvider: true, typeName: key.typeName, name: key.name?.description, parameter: missing.parameter,
        fileID: site.fileID, line: site.line))
  }

  /// Reports that a provider has made a value, although its lifetime keeps instances weakly.
  final func reportWeakValue(_ instance: Instance) {
    UDIReporter.current.report(
      .valueHeldWeakly,
      spelled(
        """
        The factory of \(key.description) made a value, of type \(type(of: instance.anyValue)), under the lifetime \
        "\(lifetime.name)": only class instances can be kept weakly, so each link makes a new value. Register the \
        factory as `.context` or `.unique`.
        """), at: site)
  }
}
