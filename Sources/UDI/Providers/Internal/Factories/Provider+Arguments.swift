/// The arguments with which a provider makes instances.
extension Provider {
  /// Returns a key by which to find an instance that was made from these arguments. Nil if there are no arguments, or
  /// if nobody will look for the instance and an argument is not `Hashable`.
  ///
  /// - Throws: `ProviderFailure.arguments` if the number does not match; `ProviderFailure.explained` if an argument is
  ///   not `Hashable`, unless the lifetime is `.unique`.
  final func key(of arguments: Arguments?) throws -> ArgumentKey? {
    if arguments == nil, wanted == nil { return nil }
    guard let arguments, takesAsMany(arguments) else {
      throw ProviderFailure.arguments(wanted: argumentTypes, given: arguments?.types ?? [])
    }
    let key = arguments.key(for: self)
    if key == nil, sharing != .unique {
      let others = arguments.values.filter { !($0 is any Hashable) }
      throw ProviderFailure.explained(.argumentsNotHashable(typeNames(others.map { type(of: $0) })))
    }
    return key
  }

  /// Rejects arguments that might not be `Sendable` if the factory was promised `Sendable` ones: the factory could send
  /// them to another actor or thread. Every factory of a `Sendable` dependency has this promise.
  ///
  /// Only the links whose reach is the main actor need this. For all others, the compiler has checked the arguments.
  ///
  /// - Throws: `ProviderFailure.explained`.
  final func rejectArguments(_ arguments: Arguments) throws {
    // An alias passes its arguments on to its target.
    if let alias = self as? Alias { return try alias.target.rejectArguments(arguments) }
    guard self.reach == .anywhere, takesAsMany(arguments) else { return }
    for (argument, wanted) in zip(arguments.values, argumentTypes) where !Self.isSendable(argument, as: wanted) {
      throw ProviderFailure.explained(.argumentNotSendable(TypeIdentity.of(type(of: argument)).text))
    }
  }

  /// Whether the factory takes as many arguments as there are here.
  private final func takesAsMany(_ arguments: Arguments) -> Bool {
    arguments.type == wanted || arguments.type.types.count == argumentTypes.count
  }

  /// Whether a value is certainly `Sendable`, given that the wanted type is `Sendable`. The answer is true only if the
  /// value has exactly the wanted type, and the type's name contains neither `<` nor `(`: at run time, `any P &
  /// Sendable` cannot be distinguished from `any P`, nor can arrays of the two. The answer is therefore also false for
  /// `[Int]`, `Int?` and private types, although they are `Sendable`; the explanation of the error says what to do.
  private static func isSendable(_ value: Any, as wanted: Any.Type) -> Bool {
    type(of: value) == wanted && !TypeIdentity.of(wanted).text.contains { $0 == "<" || $0 == "(" }
  }
}
