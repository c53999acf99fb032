/// The arguments of a call of `register`, `provide` or `implements`, apart from its closures and values.
///
/// It cannot be copied: with copies, registering takes an eighth more instructions ("register" in
/// `Benchmarks/instructions`).
struct RegisterRequest: ~Copyable {
  /// The type that the provider is registered as, and that its instances have.
  let type: Any.Type
  /// Where the instances may be used.
  let reach: UDIReach
  let name: UDIName?
  /// The lifetime; nil for the context's default.
  var lifetime: UDILifetime.Kind?
  /// Whether the registration replaces an earlier one under its key; nil if the call did not say, in which case it
  /// does.
  let replaces: Bool?
  /// The actor in whose code the verb was called, if that matters.
  let caller: (any Actor)?
  let site: UDICallSite

  /// - Precondition: `type` is `Dependency`, and not a subclass that a variable contains.
  @inline(__always)
  init<Dependency>(
    _ type: Dependency.Type, _ reach: UDIReach, _ name: UDIName?, _ lifetime: UDILifetime?, _ replaces: Bool?,
    _ caller: (any Actor)?, _ fileID: StaticString, _ line: UInt
  ) {
    checkStaticType(type, Dependency.self, at: "\(fileID):\(line): ")
    (self.type, self.reach, self.name, self.replaces, self.caller) = (type, reach, name, replaces, caller)
    self.lifetime = lifetime?.kind
    site = UDICallSite(fileID, line)
  }
}
