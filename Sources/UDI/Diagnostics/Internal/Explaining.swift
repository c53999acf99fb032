/// From what a survey has found to an explanation.
extension UDIContext {
  /// - Parameters:
  ///   - reach: Where who asks may use what it gets.
  ///   - arguments: What the factory would be given.
  ///   - limit: At how many contexts to look at most.
  ///   - failure: Why there is nothing, where the lookup knows.
  ///   - conforms: Whether an object is of the type asked for. Called with no lock held.
  func explanation(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ reach: Reach, arguments: [Any] = [], limit: Int = .max,
    failure: UDIExplanation.Cause? = nil, conforms: (AnyObject) -> Bool
  ) -> UDIExplanation {
    let key = KeyIdentity.of(.of(type), name)
    let survey = withNode { node in
      node.wake(self, search, for: key.id)
      return change { node, garbage in node.survey(key, search, limit: limit, &garbage) }
    }
    let contexts = survey.contexts.map { context in
      UDIExplanation.Context(path: context.path, findings: context.findings.map { .init($0) })
    }
    return UDIExplanation(
      typeName: key.type.name, name: name?.description, contextPath: survey.start, search: survey.search,
      cause: failure ?? survey.cause(key, reach, arguments, conforms), contexts: contexts,
      emptyCount: survey.emptyCount, omittedCount: survey.omittedCount, isAbridged: survey.isAbridged,
      nearestOutside: survey.outside.map { .init($0) }, equallyNear: survey.equallyNear.map { .init($0) },
      equallyNearCount: survey.equallyNearCount)
  }
}

extension Survey {
  /// What decides. Not under a lock.
  fileprivate func cause(
    _ key: KeyIdentity, _ reach: Reach, _ arguments: [Any], _ conforms: (AnyObject) -> Bool
  ) -> UDIExplanation.Cause {
    if let answer {
      if reach == .anywhere, answer.finding.reach == .mainActor { return .notSendable }
      return failure(of: answer.finding, arguments) ?? .found(.init(answer))
    }
    for (path, findings) in contexts {
      if let dead = findings.first(where: { $0.key === key && $0.kind == .dead }) {
        return .dead(.init(Place(path: path, finding: dead)))
      }
    }
    let names = contexts.flatMap(\.findings).filter { $0.key !== key && $0.answers }.map { $0.key.name?.description }
    if !names.isEmpty { return .otherNames(Set(names).sorted { ($0 ?? "") < ($1 ?? "") }) }
    if let other = candidates.first(where: { $0.satisfies(conforms) }) { return .otherType(.init(other.place)) }
    return outside.map { .outOfReach(.init($0)) } ?? .notRegistered
  }

  /// What would keep a provider from making, as far as that can be known before.
  private func failure(of finding: Finding, _ arguments: [Any]) -> UDIExplanation.Cause? {
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
    return provider.isOnMainActor && !MainActorCheck.isOnMainActor ? .onlyOnMainActor : nil
  }
}

/// Whether a value is, or casts to, an instance of a type that is only known when the program runs.
private func isInstance(_ type: Any.Type, _ value: Any) -> Bool {
  func isInstance<Wanted>(_: Wanted.Type) -> Bool { value is Wanted }
  return isInstance(type)
}

/// The names of types, as `String(reflecting:)` spells them.
func typeNames(_ types: [Any.Type]) -> [String] { types.map { TypeIdentity.of($0).name } }

extension UDIExplanation {
  /// One that tells the cause alone.
  init(_ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ cause: Cause) {
    self.init(
      typeName: TypeIdentity.of(type).name, name: name?.description, contextPath: [], search: search ?? .descendants,
      cause: cause, contexts: [], emptyCount: 0, omittedCount: 0, isAbridged: false, nearestOutside: nil,
      equallyNear: [], equallyNearCount: 0)
  }

  /// The same, but where nothing is registered that is so because the object that asks is attached to nothing.
  func blaming(unattached owner: Any.Type) -> UDIExplanation {
    cause == .notRegistered ? with(.unattached("\(owner)")) : self
  }

  /// The same with another cause.
  func with(_ cause: Cause) -> UDIExplanation {
    UDIExplanation(
      typeName: typeName, name: name, contextPath: contextPath, search: search, cause: cause, contexts: contexts,
      emptyCount: emptyCount, omittedCount: omittedCount, isAbridged: isAbridged, nearestOutside: nearestOutside,
      equallyNear: equallyNear, equallyNearCount: equallyNearCount)
  }
}

extension UDIExplanation.Place {
  fileprivate init(_ place: Survey.Place) { self.init(path: place.path, finding: .init(place.finding)) }
}

extension UDIExplanation.Finding {
  fileprivate init(_ finding: Survey.Finding) {
    let age = finding.noticed.map { $0.duration(to: .now).components }
    self.init(
      kind: finding.kind, typeName: finding.key.type.name, name: finding.key.name?.description,
      className: finding.objectType.map { "\($0)" }, lifetime: finding.provider?.lifetime.name,
      argumentTypes: typeNames(finding.provider?.argumentTypes ?? []), fileID: finding.site.fileID,
      line: finding.site.line,
      deadFor: age.map { Double($0.seconds) + Double($0.attoseconds) / 1e18 })
  }
}
