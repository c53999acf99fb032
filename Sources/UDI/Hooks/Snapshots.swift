/// What `UDIInspector` shows of a context. Call everything under the tree lock, except for `explanation`.
extension Node {
  package var search: UDISearch { shared.search }
}

extension UDIContext {
  /// Explains a lookup on the main actor.
  package func explanation(of key: KeyIdentity, _ search: UDISearch?) -> UDIExplanation {
    explanation(of: LookupRequest(key.type.firstType, .mainActor, named: key.name, search: search))
  }
}
