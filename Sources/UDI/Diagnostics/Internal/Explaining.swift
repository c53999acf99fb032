/// Turns the findings of a survey into an explanation.
extension UDIContext {
  /// - Parameters:
  ///   - reach: Where the one who asks may use the dependency.
  ///   - arguments: The arguments that the factory would be given.
  ///   - limit: The maximum number of contexts to look at.
  ///   - failure: Why there is nothing, if the lookup knows.
  ///   - conforms: Whether an object is of the requested type. Called while no lock is held.
  func explanation(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ reach: Reach, arguments: [Any] = [], limit: Int = .max,
    failure: UDIExplanation.Cause? = nil, conforms: (AnyObject) -> Bool
  ) -> UDIExplanation {
    let key = KeyIdentity.of(.of(type), name)
    let survey = withNode { node in
      node.runPendingSetUps(self, search, for: key.id)
      return change { node, garbage in node.survey(key, search, limit: limit, &garbage) }
    }
    let contexts = survey.contexts.map { context in
      UDIExplanation.Context(path: context.path, findings: context.findings.map { .init($0) })
    }
    return UDIExplanation(
      typeName: key.type.text, name: name?.description, contextPath: survey.start, search: survey.search,
      cause: failure ?? survey.cause(key, type, reach, arguments, conforms), contexts: contexts,
      emptyCount: survey.emptyCount, omittedCount: survey.omittedCount, isAbridged: survey.isAbridged,
      nearestOutside: survey.outside.map { .init($0) }, equallyNear: survey.equallyNear.map { .init($0) },
      equallyNearCount: survey.equallyNearCount, wasRecording: UDIRecording.isOn, isInFactory: survey.isInFactory)
  }
}

extension Survey {
  /// The cause that decides the answer. Do not call this while holding a lock.
  fileprivate func cause(
    _ key: KeyIdentity, _ type: Any.Type, _ reach: Reach, _ arguments: [Any], _ conforms: (AnyObject) -> Bool
  ) -> UDIExplanation.Cause {
    if let answer {
      if reach == .anywhere, answer.finding.reach == .mainActor { return .notSendable }
      return failure(of: answer, arguments) ?? .found(.init(answer))
    }
    for (path, findings) in contexts {
      guard let gone = decisive(findings.filter { $0.key === key && !$0.answers }) else { continue }
      let place = UDIExplanation.Place(Survey.Location(path: path, finding: gone))
      switch gone.kind {
      case .replaced: return .replaced(place)
      case .withdrawn: return .withdrawn(place)
      case .dead, .live, .kept, .provider, .override: return .dead(place)
      }
    }
    let names = contexts.flatMap(\.findings).filter { $0.key !== key && $0.answers }.map { $0.key.name?.description }
    if !names.isEmpty { return .otherNames(Set(names).sorted { ($0 ?? "") < ($1 ?? "") }) }
    let other = candidates.first { $0.satisfies(conforms) { made in isKind(made, of: type) } }
    if let other { return .otherType(.init(other.location)) }
    guard let outside else { return isRemoved ? .contextRemoved : .notRegistered }
    return outside.scopePath.map { .inScope(.init(outside), scopePath: $0) } ?? .outOfReach(.init(outside))
  }

  /// Of the bindings that are gone from a context, the one that decides. This is the last one, unless it has died and
  /// an earlier one is alive: that one is missing only because it was replaced.
  private func decisive(_ gone: [Finding]) -> Finding? {
    guard let last = gone.first, !last.isSurvivor else { return gone.first }
    return gone.first { $0.kind == .replaced && $0.isSurvivor } ?? last
  }

  /// What would prevent a provider from making an instance, as far as that can be known in advance.
  private func failure(of location: Location, _ arguments: [Any]) -> UDIExplanation.Cause? {
    let finding = location.finding
    guard let provider = finding.provider else { return nil }
    let wanted = provider.argumentTypes
    guard wanted.count == arguments.count, zip(wanted, arguments).allSatisfy(isInstance) else {
      return .otherArguments(wanted: typeNames(wanted), given: typeNames(arguments.map { type(of: $0) }))
    }
    if finding.kind == .kept, wanted.isEmpty { return nil }
    let others = arguments.filter { !($0 is any Hashable) }
    if !others.isEmpty, provider.sharing != .unique {
      return .argumentsNotHashable(typeNames(others.map { type(of: $0) }))
    }
    if !provider.isolation.isHere { return .isolatedElsewhere(provider.isolation.name) }
    switch finding.failure?.reason {
    case .threw(let message): return .failed(.init(location), message: message)
    case .returnedNil: return .factoryReturnedNil
    case .notConvertible(let made): return .notConvertible(from: TypeIdentity.of(made).text)
    case nil: return nil
    }
  }
}

/// Whether a value is, or can be cast to, an instance of a type that is known only at run time.
private func isInstance(_ type: Any.Type, _ value: Any) -> Bool {
  func isInstance<Wanted>(_: Wanted.Type) -> Bool { value is Wanted }
  return isInstance(type)
}

extension UDIExplanation {
  /// Makes an explanation that states only the cause.
  init(_ type: Any.Type, _ name: UDIName?, _ search: UDISearch, _ cause: Cause) {
    self.init(
      typeName: TypeIdentity.of(type).text, name: name?.description, contextPath: [], search: search,
      cause: cause, contexts: [], emptyCount: 0, omittedCount: 0, isAbridged: false, nearestOutside: nil,
      equallyNear: [], equallyNearCount: 0, wasRecording: UDIRecording.isOn,
      isInFactory: false)
  }

  /// The same explanation; but if nothing is registered, the cause is that the object that asks is attached to nothing.
  func blaming(unattached owner: Any.Type) -> UDIExplanation {
    cause == .notRegistered ? with(.unattached("\(owner)")) : self
  }

  /// The same explanation with another cause.
  func with(_ cause: Cause) -> UDIExplanation {
    UDIExplanation(
      typeName: typeName, name: name, contextPath: contextPath, search: search, cause: cause, contexts: contexts,
      emptyCount: emptyCount, omittedCount: omittedCount, isAbridged: isAbridged, nearestOutside: nearestOutside,
      equallyNear: equallyNear, equallyNearCount: equallyNearCount, wasRecording: wasRecording,
      isInFactory: isInFactory)
  }
}

extension UDIExplanation.Place {
  fileprivate init(_ location: Survey.Location) { self.init(path: location.path, finding: .init(location.finding)) }
}

extension UDIExplanation.Finding {
  fileprivate init(_ finding: Survey.Finding) {
    self.init(
      kind: finding.kind, typeName: finding.key.type.text, name: finding.key.name?.description,
      className: finding.objectType.map { "\($0)" }, lifetime: finding.provider?.lifetime.name,
      argumentTypes: typeNames(finding.provider?.argumentTypes ?? []), fileID: finding.site.fileID,
      line: finding.site.line,
      isAlive: finding.isAlive, deadFor: finding.goneSince.map { $0.duration(to: .now) },
      endFileID: finding.endedBy?.fileID, endLine: finding.endedBy?.line, failure: finding.failure.map { .init($0) })
  }
}

extension UDIExplanation.Failure {
  fileprivate init(_ failure: FactoryFailure) {
    self.init(
      message: failure.message, argumentTypes: typeNames(failure.argumentTypes), age: failure.time.duration(to: .now))
  }
}
