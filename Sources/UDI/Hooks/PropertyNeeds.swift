/// What `UDITesting` asks about the properties of classes. Both functions explain a lookup on the main actor, wherever
/// they are called.
extension UDIContext {
  /// Explains what a lookup of a type finds that has no name.
  package func explanation(ofNeed type: Any.Type) -> UDIExplanation {
    explanation(of: LookupRequest(type, .mainActor))
  }

  /// Explains what the first read of an object's property finds.
  ///
  /// - Parameter wrapper: The address of the property's wrapper: `Required` or `Linked`.
  /// - Returns: Nil if the property has been set, so that a read looks nothing up.
  package func explanation(ofProperty wrapper: UnsafeRawPointer) -> UDIExplanation? {
    // Each wrapper consists of a reference to its link.
    unsafe wrapper.load(as: PropertyLink.self).lookup.map { explanation(of: $0) }
  }
}
