/// What `UDIInspector` shows of a context.
extension UDIContext {
  /// Explains a lookup on the main actor.
  package func explanation(of key: KeyIdentity, _ search: UDISearch?) -> UDIExplanation {
    explanation(of: LookupRequest(key.type.firstType, .mainActor, named: key.name, search: search))
  }
}
