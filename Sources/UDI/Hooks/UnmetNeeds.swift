/// What `UDIInspector` checks registrations with. A factory that is looked at in this way does not run.
extension UDIContext {
  /// The error that a factory's lookup in this context would give, if it named nothing but a type.
  ///
  /// - Parameter cause: Why there is no instance. If nothing was found, pass `notRegistered`: the error then finds
  ///   out more.
  package func error(of cause: UDIExplanation.Cause, _ type: Any.Type) -> UDILinkError {
    let request = LookupRequest(type, .mainActor, search: .ancestors)
    var error = linkError(cause == .notRegistered ? .nothing : .explained(cause), request)
    error.explanation.isInFactory = true
    return error
  }
}
