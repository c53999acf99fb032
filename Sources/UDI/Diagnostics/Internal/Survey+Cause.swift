/// Finds the cause for an explanation. Do not call anything here while holding a lock.
extension Survey {
  /// Finds out why the lookup finds something, or why it finds nothing.
  ///
  /// - Parameter arguments: The arguments that the factory would be given.
  func cause(of request: LookupRequest, with arguments: [Any]) -> UDIExplanation.Cause {
    if let answer {
      if request.reach == .anywhere, answer.source.reach == .mainActor { return .notSendable }
      return failure(of: answer, arguments, request.reach) ?? .found(answer.place)
    }
    if case .contextClosed = explanation.cause { return explanation.cause }
    for context in explanation.contexts {
      // The latest comes first. If its object has been released, but that of a binding that it replaced is alive, the
      // replaced one decides: it would be found if it had not been replaced.
      let gone = context.findings.filter { $0.isGone && $0.name == explanation.name }
      guard let finding = gone.first(where: \.isAlive) ?? gone.first else { continue }
      let place = UDIExplanation.Place(fullPath: context.fullPath, finding: finding)
      if finding.kind == .replaced { return .replaced(place) }
      return finding.kind == .withdrawn ? .withdrawn(place) : .dead(place)
    }
    if explanation.nearestOutside != nil { return explanation.cause }
    var names: [String?] = []
    for other in explanation.contexts.flatMap(\.findings) where !other.isGone && !names.contains(other.name) {
      names.insert(other.name, at: names.firstIndex { $0 ?? "" > other.name ?? "" } ?? names.count)
    }
    if !names.isEmpty { return .otherNames(names) }
    let wanted = wrappedType(of: request.type) ?? request.type
    if let other = candidates.first(where: { isKind($0, of: wanted) }) { return .otherType(other.place) }
    if let other = candidates.first(where: { mayBecome($0, wanted) }) { return .moreGeneralType(other.place) }
    return explanation.cause
  }

  /// Whether the object is an instance of the given type. If there is no object: whether, judging by its type, the
  /// provider makes such instances, or optionals of them.
  private func isKind(_ found: Found, of type: Any.Type) -> Bool {
    if let object = found.object { return isInstance(type, object.object) }
    guard let provider = found.source as? Provider else { return false }
    let made = wrappedType(of: provider.madeType) ?? provider.madeType
    return made == type || UDI.isKind(made, of: type)
  }

  /// Whether a provider that keeps no instance might make one of the given type, because each instance of the given
  /// type is also one of the type that the provider makes. Providers that make `Any` or `AnyObject` do not count: every
  /// object is an instance of these types.
  private func mayBecome(_ found: Found, _ type: Any.Type) -> Bool {
    guard found.place.finding.kind == .provider, let made = (found.source as? Provider)?.madeType else { return false }
    return made != Any.self && made != AnyObject.self && UDI.isKind(type, of: made)
  }

  /// Returns the reason why a provider cannot make an instance, as far as that can be known in advance.
  private func failure(of found: Found, _ arguments: [Any], _ reach: UDIReach) -> UDIExplanation.Cause? {
    if explanation.cause != .notRegistered { return explanation.cause }
    guard let provider = found.source as? Provider else { return nil }
    let wanted = provider.argumentTypes
    guard wanted.count == arguments.count, zip(wanted, arguments).allSatisfy(isInstance) else {
      return .otherArguments(wanted: typeNames(wanted), given: typeNames(arguments.map { type(of: $0) }))
    }
    if found.place.finding.kind == .kept, wanted.isEmpty { return nil }
    if provider.keepsInstance(for: arguments) { return nil }
    let others = arguments.filter { !($0 is any Hashable) }
    if !others.isEmpty, provider.sharing != .unique {
      return .argumentsNotHashable(typeNames(others.map { type(of: $0) }))
    }
    if provider.isAsynchronous { return .asynchronous(found.place.finding.failure) }
    let isolation = provider.isIsolated ? provider.isolation : provider.maker.isolation
    // A lookup for a type that is not `Sendable` runs on the main actor, wherever this method runs.
    let mayRun = reach == .mainActor ? isolation.actor == nil || isolation.isMainActor : isolation.isHere
    if !mayRun { return .isolatedElsewhere(isolation.name) }
    return Tree.change { _ in provider.failure }.map { $0.cause ?? .failed(found.place, message: $0.message) }
  }
}

/// Whether the value is an instance of the given type, which is known only at run time, or can be cast to that type.
private func isInstance(_ type: Any.Type, _ value: Any) -> Bool {
  func isInstance<Wanted>(_: Wanted.Type) -> Bool { value is Wanted }
  return isInstance(type)
}
