/// A factory with arguments, without its types and its isolation: each argument is cast to the type that the factory wants.
struct ErasedFactory {
  let argumentTypes: [Any.Type]
  let make: (UDIContext, [Any]) throws -> Made?

  init<Dependency, First, each More>(
    _ factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?
  ) {
    var types: [Any.Type] = [First.self]
    for type in repeat (each More).self { types.append(type) }
    let make = IsolatedFunction(factory).isolationErased
    self.init(types) { [types] context, arguments in
      var arguments = try Arguments(arguments, wanted: types)
      let first = try arguments.next(First.self)
      return try make(context, first, repeat arguments.next((each More).self)).map { Made($0) }
    }
  }

  init(_ argumentTypes: [Any.Type], _ make: @escaping (UDIContext, [Any]) throws -> Made?) {
    self.argumentTypes = argumentTypes
    self.make = make
  }
}

/// The same for what is called after such a factory.
func eraseCompletion<Dependency, First, each More>(
  _ completion: @escaping @isolated(any) (UDIContext, Dependency, First, repeat each More) -> Void
) -> (UDIContext, Made, [Any]) -> Void {
  let complete = IsolatedBlock(completion).isolationErased
  return { context, made, arguments in
    guard let dependency = made.value(as: Dependency.self, isExact: true) else { return }
    do {
      var arguments = try Arguments(arguments, wanted: [])
      let first = try arguments.next(First.self)
      complete(context, dependency, first, repeat try arguments.next((each More).self))
    } catch { preconditionFailure("the factory has had these arguments already") }
  }
}

/// The arguments of a link, to be cast one by one to the types that a factory wants.
struct Arguments {
  private var rest: ArraySlice<Any>
  private let all: [Any]
  private let wanted: [Any.Type]

  init(_ arguments: [Any], wanted: [Any.Type]) throws {
    rest = arguments[...]
    all = arguments
    self.wanted = wanted
    guard wanted.isEmpty || arguments.count == wanted.count else { throw mismatch }
  }

  mutating func next<Argument>(_ type: Argument.Type) throws -> Argument {
    // In two steps: in one, a factory that wants an `Any` would get the optional itself.
    guard let next = rest.popFirst(), let argument = next as? Argument else { throw mismatch }
    return argument
  }

  private var mismatch: any Error { ProviderFailure.arguments(wanted: wanted, given: all.map { type(of: $0) }) }
}

extension [Any] {
  /// The arguments of a link without their types.
  @inlinable
  static func packed<First, each More>(_ first: First, _ more: repeat each More) -> [Any] {
    var arguments: [Any] = [first]
    for other in repeat each more { arguments.append(other) }
    return arguments
  }
}
