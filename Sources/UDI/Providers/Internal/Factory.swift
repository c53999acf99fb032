/// A provider whose factory takes the context alone: the kind that lookups, compiled in the caller's module, call directly.
@usableFromInline
final class Factory<Dependency>: Provider, @unchecked Sendable {
  // Unchecked: it adds constants. Where the closures may be called is what `isolation` says.

  @usableFromInline let factory: (UDIContext) throws -> Dependency?
  private let completion: ((UDIContext, Dependency) -> Void)?

  @usableFromInline
  init(
    _ description: consuming Description, _ factory: @escaping (UDIContext) throws -> Dependency?,
    _ completion: ((UDIContext, Dependency) -> Void)?
  ) {
    if let owner = description.owner {
      let owned = ActorOwned((make: factory, complete: completion), by: owner)
      self.factory = { try owned.value.make($0) }
      self.completion = completion == nil ? nil : { owned.value.complete?($0, $1) }
    } else {
      self.factory = factory
      self.completion = completion
    }
    super.init(description, argumentTypes: nil, isFactory: true)
  }

  override func make(_ context: UDIContext, _ arguments: [Any]) throws -> Made? {
    guard arguments.isEmpty else { throw ProviderFailure.arguments(wanted: [], given: arguments.map { type(of: $0) }) }
    return try factory(context).map { Made($0) }
  }

  override func complete(_ made: Made, _ context: UDIContext, _ arguments: [Any]) {
    guard let completion, let dependency = made.value(as: Dependency.self, isExact: true) else { return }
    completion(context, dependency)
  }
}

/// A provider whose factory takes arguments, too.
@usableFromInline
final class ArgumentFactory: Provider, @unchecked Sendable {
  // Unchecked: it adds constants. Where the closures may be called is what `isolation` says.
  private let factory: (UDIContext, [Any]) throws -> Made?
  private let completion: ((UDIContext, Made, [Any]) -> Void)?

  @usableFromInline
  init(
    _ description: consuming Description, _ erased: ErasedFactory,
    _ completion: ((UDIContext, Made, [Any]) -> Void)?
  ) {
    if let owner = description.owner {
      let owned = ActorOwned((make: erased.make, complete: completion), by: owner)
      self.factory = { try owned.value.make($0, $1) }
      self.completion = completion == nil ? nil : { owned.value.complete?($0, $1, $2) }
    } else {
      factory = erased.make
      self.completion = completion
    }
    super.init(description, argumentTypes: erased.argumentTypes, isFactory: false)
  }

  override func make(_ context: UDIContext, _ arguments: [Any]) throws -> Made? { try factory(context, arguments) }

  override func complete(_ made: Made, _ context: UDIContext, _ arguments: [Any]) {
    completion?(context, made, arguments)
  }
}
