/// A provider whose factory takes the context alone: the kind that lookups, compiled in the caller's module, call directly.
@usableFromInline
final class Factory<Dependency>: Provider, @unchecked Sendable {
  // Unchecked: it adds constants. Where the closures may be called is what `isOnMainActor` says.

  @usableFromInline let factory: (UDIContext) throws -> Dependency?
  private let completion: ((UDIContext, Dependency) -> Void)?

  @usableFromInline
  init(
    _ description: consuming Description, _ factory: @escaping (UDIContext) throws -> Dependency?,
    _ completion: ((UDIContext, Dependency) -> Void)?
  ) {
    self.factory = factory
    self.completion = completion
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
  // Unchecked: it adds constants. Where the closures may be called is what `isOnMainActor` says.
  private let factory: (UDIContext, [Any]) throws -> Made?
  private let completion: ((UDIContext, Made, [Any]) -> Void)?

  @usableFromInline
  init(
    _ description: consuming Description, argumentTypes: [Any.Type],
    _ factory: @escaping (UDIContext, [Any]) throws -> Made?,
    _ completion: ((UDIContext, Made, [Any]) -> Void)?
  ) {
    self.factory = factory
    self.completion = completion
    super.init(description, argumentTypes: argumentTypes, isFactory: false)
  }

  override func make(_ context: UDIContext, _ arguments: [Any]) throws -> Made? { try factory(context, arguments) }

  override func complete(_ made: Made, _ context: UDIContext, _ arguments: [Any]) {
    completion?(context, made, arguments)
  }
}

/// Another type that is served from the instances of a provider.
@usableFromInline
final class Alias: Provider, @unchecked Sendable {
  // Unchecked: it adds constants.
  let target: Provider
  private let convert: (Made) -> Made?

  @usableFromInline
  init(_ description: consuming Description, of target: Provider, _ convert: @escaping (Made) -> Made?) {
    self.target = target
    self.convert = convert
    super.init(description, argumentTypes: target.hasArguments ? target.argumentTypes : nil, isFactory: false)
  }

  @usableFromInline
  override func obtain(_ context: UDIContext, _ arguments: [Any], isFresh: Bool) throws -> Made? {
    guard let made = try target.obtain(context, arguments, isFresh: isFresh) else { return nil }
    if let present = converted(from: made) { return present }
    guard let converted = convert(made) else { throw ProviderFailure.notConvertible(from: target.madeType) }
    let other = Tree.change { garbage -> Made? in
      // Only what the provider shows, which is the same object; and only while both are registered.
      guard node != nil, let original = target.shown, let present = original.made else { return nil }
      garbage.add(present.object)
      guard present.object === made.object else { return nil }
      // Another thread may have been faster; what it made of it is the one then.
      if let other = shown?.made(from: made) { return other }
      let isWeak = original.owned == nil
      guard !isWeak || !converted.isBox else { return nil }
      if let shown { garbage.add(shown) }
      show(MadeEntry(converted, self, isWeak: isWeak, origin: made))
      return nil
    }
    return other ?? converted
  }

  /// What was made of an instance before, and is kept as long as that is.
  private func converted(from made: Made) -> Made? {
    Tree.change { garbage in
      if let shown { garbage.add(shown) }
      return shown?.made(from: made)
    }
  }
}
