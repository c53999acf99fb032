/// Finds the cause for an explanation. Do not call anything here while holding a lock.
extension Survey {
  /// Makes an explanation from the survey, with the given cause.
  func explanation(_ cause: UDIExplanation.Cause) -> UDIExplanation {
    UDIExplanation(
      typeName: key.type.text, name: key.name?.description, fullPath: start, search: search, cause: cause,
      contexts: contexts.map { .init(fullPath: $0.path, findings: $0.sightings.map { .init($0) }) },
      emptyCount: emptyCount, omittedCount: omittedCount, isAbridged: isAbridged,
      nearestOutside: outside.map { .init($0) }, equallyNear: equallyNear.map { .init($0) },
      equallyNearCount: equallyNearCount, wasRecording: UDIRecording.isOn, isInFactory: isInFactory,
      makesWhatIsKept: makesWhatIsKept, dependents: dependents.map { .init($0) }, dependentCount: dependentCount)
  }

  /// Finds out why the lookup finds something, or why it finds nothing.
  ///
  /// - Parameters:
  ///   - reach: Where the caller may use the dependency.
  ///   - arguments: The arguments that the factory would be given.
  ///   - isForMainActor: Whether the lookup is supposed to run on the main actor, wherever this method runs.
  func cause(
    _ type: Any.Type, _ reach: UDIReach, _ arguments: [Any], isForMainActor: Bool = false
  ) -> UDIExplanation.Cause {
    if let answer {
      if reach == .anywhere, answer.sighting.reach == .mainActor { return .notSendable }
      return failure(of: answer, arguments, isForMainActor: isForMainActor) ?? .found(.init(answer))
    }
    if isClosed { return .contextClosed(fullPath: start) }
    for (path, sightings) in contexts {
      guard let gone = decisive(sightings.filter { $0.key === key && $0.isGone }) else { continue }
      let place = UDIExplanation.Place((path, gone))
      switch gone.kind {
      case .replaced: return .replaced(place)
      case .withdrawn: return .withdrawn(place)
      case .dead, .live, .kept, .provider, .override: return .dead(place)
      }
    }
    if let outside {
      return scopePath.map { .inScope(.init(outside), scopePath: $0) } ?? .outOfReach(.init(outside))
    }
    let others = contexts.flatMap(\.sightings).filter { $0.key !== key && !$0.isGone }
    if !others.isEmpty {
      return .otherNames(Set(others.map(\.key.name?.description)).sorted { $0 ?? "" < $1 ?? "" })
    }
    let wanted = (TypeMetadata(type).isOptional ? type as? any OptionalParameter.Type : nil)?.wrapped ?? type
    if let other = candidates.first(where: { $0.sighting.isKind(of: wanted) }) { return .otherType(.init(other)) }
    if let other = candidates.first(where: { $0.sighting.mayBecome(wanted) }) { return .moreGeneralType(.init(other)) }
    return isRemoved ? .contextRemoved : .notRegistered
  }

  /// Selects the removed binding that explains why a lookup finds nothing in a context. Usually, the binding that was
  /// removed last explains it. But if its object has been released, and the object of an earlier, replaced binding is
  /// still alive, the earlier binding does: its object would be found if the binding had not been replaced.
  private func decisive(_ gone: [Sighting]) -> Sighting? {
    guard let last = gone.first, !last.isAlive else { return gone.first }
    return gone.first { $0.kind == .replaced && $0.isAlive } ?? last
  }

  /// Returns the reason why a provider cannot make an instance, as far as that can be known in advance.
  private func failure(of place: Place, _ arguments: [Any], isForMainActor: Bool) -> UDIExplanation.Cause? {
    guard let provider = place.sighting.provider else { return nil }
    let wanted = provider.argumentTypes
    guard wanted.count == arguments.count, zip(wanted, arguments).allSatisfy(isInstance) else {
      return .otherArguments(wanted: typeNames(wanted), given: typeNames(arguments.map { type(of: $0) }))
    }
    if place.sighting.kind == .kept, wanted.isEmpty { return nil }
    if provider.keepsInstance(for: arguments) { return nil }
    let others = arguments.filter { !($0 is any Hashable) }
    if !others.isEmpty, provider.sharing != .unique {
      return .argumentsNotHashable(typeNames(others.map { type(of: $0) }))
    }
    if provider.isAsynchronous { return .asynchronous(after: place.sighting.failure) }
    let isolation = provider.isolation
    let mayRun = isForMainActor ? isolation.actor == nil || isolation.isMainActor : isolation.isHere
    if !mayRun { return .isolatedElsewhere(isolation.name) }
    switch place.sighting.failure?.reason {
    case .threw(let message): return .failed(.init(place), message: message)
    case .returnedNil: return .factoryReturnedNil
    case .notConvertible(let made): return .notConvertible(from: TypeIdentity.of(made).text)
    case nil: return nil
    }
  }
}

extension UDIExplanation.Place {
  fileprivate init(_ place: Survey.Place) { self.init(fullPath: place.path, finding: .init(place.sighting)) }
}

/// Whether the value is an instance of the given type, which is known only at run time, or can be cast to that type.
private func isInstance(_ type: Any.Type, _ value: Any) -> Bool {
  func isInstance<Wanted>(_: Wanted.Type) -> Bool { value is Wanted }
  return isInstance(type)
}
