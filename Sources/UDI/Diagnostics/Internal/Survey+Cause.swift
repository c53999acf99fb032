/// Finds the cause for an explanation. Do not call anything here while holding a lock.
extension Survey {
  /// Finds out why the lookup finds something, or why it finds nothing.
  ///
  /// - Parameter arguments: The arguments that the factory would be given.
  func cause(of request: LookupRequest, with arguments: [Any]) -> UDIExplanation.Cause {
    if let answer {
      if request.reach == .anywhere, answer.sighting.source.reach == .mainActor { return .notSendable }
      return failure(of: answer, arguments, request.reach) ?? .found(answer.place)
    }
    if case .contextClosed = explanation.cause { return explanation.cause }
    for context in explanation.contexts {
      let gone = context.findings.filter { $0.isGone && $0.name == explanation.name }
      guard let finding = decisive(gone) else { continue }
      let place = UDIExplanation.Place(fullPath: context.fullPath, finding: finding)
      if finding.kind == .replaced { return .replaced(place) }
      return finding.kind == .withdrawn ? .withdrawn(place) : .dead(place)
    }
    if let outside { return outside }
    let others = explanation.contexts.flatMap(\.findings).filter { !$0.isGone && $0.name != explanation.name }
    if !others.isEmpty {
      var names: [String?] = []
      for other in others where !names.contains(other.name) {
        names.insert(other.name, at: names.firstIndex { $0 ?? "" > other.name ?? "" } ?? names.count)
      }
      return .otherNames(names)
    }
    let wanted =
      (TypeMetadata(request.type).isOptional ? request.type as? any AnyOptional.Type : nil)?.wrapped ?? request.type
    if let other = candidates.first(where: { $0.sighting.isKind(of: wanted) }) { return .otherType(other.place) }
    if let other = candidates.first(where: { $0.sighting.mayBecome(wanted) }) { return .moreGeneralType(other.place) }
    return explanation.cause
  }

  /// Selects the binding that explains why a lookup finds nothing in a context. Usually, that is the dead binding that
  /// the context still has or, if there is none, the one that was removed last. But if its object has been released,
  /// and the object of an earlier, replaced binding is still alive, the earlier binding explains it: its object would
  /// be found if the binding had not been replaced.
  ///
  /// - Parameter gone: The dead and removed bindings, the latest first.
  private func decisive(_ gone: [UDIEntry]) -> UDIEntry? {
    guard let last = gone.first, !last.isAlive else { return gone.first }
    return gone.first { $0.kind == .replaced && $0.isAlive } ?? last
  }

  /// Returns the reason why a provider cannot make an instance, as far as that can be known in advance.
  private func failure(of found: Found, _ arguments: [Any], _ reach: UDIReach) -> UDIExplanation.Cause? {
    if let obstacle { return obstacle }
    guard let provider = found.sighting.provider else { return nil }
    let wanted = provider.argumentTypes
    guard wanted.count == arguments.count, zip(wanted, arguments).allSatisfy(isInstance) else {
      return .otherArguments(wanted: typeNames(wanted), given: typeNames(arguments.map { type(of: $0) }))
    }
    if found.sighting.entry.kind == .kept, wanted.isEmpty { return nil }
    if provider.keepsInstance(for: arguments) { return nil }
    let others = arguments.filter { !($0 is any Hashable) }
    if !others.isEmpty, provider.sharing != .unique {
      return .argumentsNotHashable(typeNames(others.map { type(of: $0) }))
    }
    if provider.isAsynchronous { return .asynchronous(found.sighting.entry.failure) }
    let isolation = provider.isolation
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
