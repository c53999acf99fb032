/// What `UDIInspector` checks registrations with. A factory that is looked at in this way does not run.
extension UDIContext {
  /// What a factory's lookup finds in this context, or above it, that names nothing but a type.
  package func nearest(_ type: Any.Type) -> Entry? {
    let key = TypeToken.of(type).keyID(named: nil)
    return change { node, garbage in node.nearestLiveEntry(key, .ancestors, &garbage) }
  }

  /// The error that such a lookup would give.
  ///
  /// - Parameter cause: Why there is no instance. If nothing was found, `notRegistered`: the error then has a closer look.
  package func error(of cause: UDIExplanation.Cause, _ type: Any.Type) -> UDILinkError {
    let request = LookupRequest(type, .mainActor, search: .ancestors)
    var error = linkError(cause == .notRegistered ? .nothing : .explained(cause), request)
    error.explanation.isInFactory = true
    return error
  }
}
