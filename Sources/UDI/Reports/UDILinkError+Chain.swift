/// How the chain of an error grows, from the missing dependency outwards.
extension UDILinkError {
  /// - Parameter site: The call that registered the dependency that could not be made. If it is nil, the explanation is
  ///   searched for the registration.
  init(_ explanation: UDIExplanation, site: UDICallSite? = nil) {
    var provider = explanation.contexts.lazy.flatMap(\.findings).first { $0.isProvider && explanation.isAnswer($0) }
    // In these cases, the lookup did not get as far as the provider, or there was none yet.
    if case .cameLater = explanation.cause { provider = nil }
    if case .contextClosed = explanation.cause { provider = nil }
    let missing = Step(
      isProvider: false, typeName: explanation.typeName, name: explanation.name,
      fileID: site?.fileID ?? provider?.fileID, line: site?.line ?? provider?.line)
    self.init(explanation: explanation, chain: [missing])
  }

  /// Returns the same error with one more step at the beginning of its chain.
  func seen(from step: Step) -> UDILinkError { UDILinkError(explanation: explanation, chain: [step] + chain) }

  /// Returns the same error with the asking object as the first step of its chain; the error itself if no object asked.
  func seen(by asker: AnyObject?, at site: UDICallSite) -> UDILinkError {
    asker.map { seen(from: Step($0, at: site)) } ?? self
  }

  /// Returns the same error with the position of the dependency among the parameters of an initialiser.
  ///
  /// - Parameter position: The position, counted from 1.
  package func asked(asParameter position: Int) -> UDILinkError {
    UDILinkError(explanation: explanation, chain: chain, parameter: position)
  }

  /// Whether there is no such dependency: the lookup found no provider, or the provider's factory returned nil. False
  /// if the provider could not give an instance for another reason.
  var isAbsence: Bool { chain.count == 1 && (cause == .factoryReturnedNil || chain[0].fileID == nil) }

  /// Whether an optional parameter gets nil, for one of three reasons: there is no such dependency; the dependency
  /// needs, in a circle, the instance that the parameter is for; or there is no scope for the dependency.
  var leavesOptionalNil: Bool {
    switch cause {
    // If the whole circle lies behind the parameter, the instance that the parameter is for is not a part of it.
    case .cycle(let path):
      !path.allSatisfy { key in chain.dropLast().contains { describeKey($0.typeName, $0.name) == key } }
    case .noScope, .scopeIsAbove: chain.count == 1
    default: isAbsence
    }
  }
}

extension UDILinkError.Step {
  init(_ asker: AnyObject, at site: UDICallSite) {
    let type = TypeIdentity.of(type(of: asker)).text
    self.init(isProvider: false, typeName: type, name: nil, fileID: site.fileID, line: site.line)
  }
}
