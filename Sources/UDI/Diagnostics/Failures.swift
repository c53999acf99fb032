/// From what went wrong inside to what a caller is told.
extension UDIContext {
  /// The error of a lookup that found nothing.
  @usableFromInline
  func linkError(_ type: Any.Type, _ name: UDIName?, _ search: UDISearch?) -> any Error {
    let others = otherNames(type, name, search)
    return linkError(type, name, search, others.isEmpty ? .notFound : .otherNames(others))
  }

  /// What to throw for what a provider failed with: a factory's own error as it is.
  @usableFromInline
  func explained(_ error: any Error, _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?) -> any Error {
    guard let failure = error as? ProviderFailure else { return error }
    func names(_ types: [Any.Type]) -> [String] { types.map { TypeIdentity.of($0).name } }
    let reason: UDILinkError.Reason
    switch failure {
    case .nothing: return linkError(type, name, search)
    case .cycle(let keys): reason = .cycle(keys.map(\.description))
    case .returnedNil: reason = .factoryReturnedNil
    case .onlyOnMainActor: reason = .onlyOnMainActor
    case .arguments(let wanted, let given): reason = .otherArguments(wanted: names(wanted), given: names(given))
    case .unhashable(let types): reason = .argumentsNotHashable(names(types))
    case .notConvertible(let made): reason = .notConvertible(from: TypeIdentity.of(made).name)
    }
    return linkError(type, name, search, reason)
  }

  /// Reports why a lookup that throws nothing got nothing from a provider. That nothing is registered at all is no misuse.
  @usableFromInline
  func report(_ error: any Error, _ entry: Entry, _ type: Any.Type, _ search: UDISearch?) {
    let name = entry.key.name
    let message: String
    switch error {
    case ProviderFailure.nothing: return
    case is ProviderFailure: message = "\(explained(error, type, name, search))"
    case let missing as UDILinkError: message = "\(missing) The factory of \(entry.key) asked for it."
    default: message = "The factory of \(entry.key) threw: \(error)"
    }
    UDIReporter.current.report(.notMade, message, at: entry.site)
  }

  private func linkError(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ reason: UDILinkError.Reason
  ) -> UDILinkError {
    UDILinkError(
      typeName: TypeIdentity.of(type).name, name: name, contextPath: change { node, _ in node.fullPath },
      search: search ?? self.search, reason: reason)
  }

  /// The names under which a search could find the type.
  private func otherNames(_ type: Any.Type, _ name: UDIName?, _ search: UDISearch?) -> [UDIName?] {
    let identity = TypeIdentity.of(type)
    let keys = change { node, garbage in
      let keys = node.keys(of: identity, search ?? node.search)
      for key in keys { garbage.add(key) }
      return keys
    }
    // Compared outside of the lock: names compare by the user's `==`.
    return keys.map(\.name).filter { $0 != name }.sorted { ($0?.description ?? "") < ($1?.description ?? "") }
  }
}

extension Provider {
  /// Whether an error says that a dependency takes itself.
  final func isCycle(_ error: any Error) -> Bool {
    if case .cycle? = error as? ProviderFailure { return true }
    if case .cycle? = (error as? UDILinkError)?.reason { return true }
    return false
  }

  /// Reports a value that should have been kept weakly.
  final func reportWeakValue(_ made: Made) {
    UDIReporter.current.report(
      .valueHeldWeakly,
      """
      The factory of \(key) made a \(type(of: made.anyValue)), a value, under the lifetime "\(lifetime.name)": only class \
      instances can be kept weakly, so it is made anew at every link. Register it as `.context` or `.unique`.
      """, at: site)
  }
}
