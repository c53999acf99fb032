/// The type that an optional type wraps; nil for any other type.
package func wrappedType(of type: Any.Type) -> Any.Type? {
  // `isOptional` is checked first, because it is fast. The cast is not: it searches all conformances in the program.
  TypeMetadata(type).isOptional ? (type as? any AnyOptional.Type)?.wrapped : nil
}

/// An optional, whatever it wraps: a parameter whose dependency may be missing, or an argument.
protocol AnyOptional: SendableMetatype {
  static var wrapped: Any.Type { get }
  /// Converts an instance of the wrapped type, or nil, to the optional.
  static func wrap(_ instance: Instance?) -> Self
  /// Looks up the wrapped type; nil if there is no such dependency, or `leavesOptionalNil`.
  static func find(from context: UDIContext, _ reach: UDIReach) throws -> Self
  /// The wrapped value; nil if there is none.
  var wrappedValue: Any? { get }
}

extension Optional: AnyOptional {
  static var wrapped: Any.Type { Wrapped.self }
  static func wrap(_ instance: Instance?) -> Wrapped? { instance?.value(as: Wrapped.self, isExact: true) }
  static func find(from context: UDIContext, _ reach: UDIReach) throws -> Wrapped? {
    let request = LookupRequest(Wrapped.self, reach)
    var found: Wrapped?
    let thread = Resolution.current
    thread.read { unsafe $0.optionalLookups += 1 }
    defer { thread.read { unsafe $0.optionalLookups -= 1 } }
    do {
      try unsafe withUnsafeMutablePointer(to: &found) {
        let memory = unsafe InstanceMemory(address: $0)
        try context.complete(context.attempt(request, into: memory), request, reports: false, into: memory)
      }
    } catch ProviderFailure.nothing, ProviderFailure.returnedNil {
    } catch {
      let error = context.explained(error, request)
      if (error as? UDILinkError)?.leavesOptionalNil != true { throw error }
    }
    return found
  }
  var wrappedValue: Any? { self }
}
