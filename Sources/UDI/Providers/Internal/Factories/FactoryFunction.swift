/// A factory's function, without its types and its isolation. Call it only if `Isolation.isHere` allows that.
///
/// The struct stores the function itself, because a closure around it would take memory for each registration. Only a
/// function that takes arguments is wrapped in a closure.
///
/// Marked safe, although it casts functions, because the casts do not change how a function is called. The cast type
/// returns the same optional, or plain words of the same size. An isolated function is called like one without
/// isolation, because its actor is part of what it captures; the standard library's `MainActor.assumeIsolated` relies
/// on this, too.
@safe
struct FactoryFunction {
  private let function: Returning<Void>
  let takesContext: Bool
  /// Whether the function is a `MakingFromArguments`. The factory itself may still want no arguments.
  private var takesArguments = false
  /// The number of words that the function returns, if the type of the instances `holdsReferences`; otherwise 0.
  private let words: UInt8
  /// If this is an initialiser, the reach with which its parameters are looked up; otherwise nil.
  var reachOfParameters: UDIReach?

  // Functions are cast inside a struct, because Swift would wrap a bare function before casting it. The first two
  // structs are generic over the instance's type rather than over the result's type, which is an optional. Otherwise
  // `register` would look up the metadata of that optional, and would take a tenth longer ("register 16 in a new
  // context, each" in `Benchmarks/compare`).

  private struct Making<Dependency> { let function: @isolated(any) () throws -> Dependency? }
  private struct MakingInContext<Dependency> { let function: @isolated(any) (UDIContext) throws -> Dependency? }
  private struct Returning<Result> { let function: () throws -> Result }
  private struct ReturningInContext<Result> { let function: (UDIContext) throws -> Result }
  private struct MakingFromArguments { let function: (UDIContext, Arguments?) throws -> Instance? }

  @inline(__always)
  init<Dependency>(_ make: __shared @escaping @isolated(any) () throws -> Dependency?) {
    function = unsafe unsafeBitCast(Making(function: make), to: Returning<Void>.self)
    takesContext = false
    words = Instance.words(of: Dependency.self)
  }

  @inline(__always)
  init<Dependency>(_ make: __shared @escaping @isolated(any) (UDIContext) throws -> Dependency?) {
    function = unsafe unsafeBitCast(MakingInContext(function: make), to: Returning<Void>.self)
    takesContext = true
    words = Instance.words(of: Dependency.self)
  }

  /// Wraps a factory that takes a context, and perhaps arguments.
  init<Dependency, each Argument>(
    takingArguments make: @escaping @isolated(any) (UDIContext, repeat each Argument) throws -> Dependency?
  ) {
    let make = IsolatedFunction(function: make).isolationErased
    let words = Instance.words(of: Dependency.self)
    typealias Pack = ArgumentPack<repeat each Argument>
    let making = MakingFromArguments { context, arguments in
      // The function writes its result to memory that the caller provides, because the result's type is generic. This
      // memory is enough, because an optional takes at most one byte more than the type it wraps.
      let layout = MemoryLayout<Dependency>.self
      return try unsafe withUnsafeTemporaryAllocation(byteCount: layout.size + 1, alignment: layout.alignment) {
        let memory = unsafe $0.baseAddress.unsafelyUnwrapped
        let pointer = unsafe memory.assumingMemoryBound(to: Dependency?.self)
        let pack = if let arguments { try arguments.read(as: Pack.self) } else { try Pack(casting: []) }
        unsafe pointer.initialize(to: try make(context, repeat each pack.all))
        return words == 0 ? unsafe Instance(moving: pointer) : unsafe Instance(owning: memory, wordCount: words)
      }
    }
    function = unsafe unsafeBitCast(making, to: Returning<Void>.self)
    (takesContext, takesArguments, self.words) = (true, true, words)
  }

  /// Calls the function.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, if the factory takes any.
  ///   - type: The type of the instances.
  /// - Returns: The new instance, or nil if the function has returned nil.
  @inline(__always)
  func call(_ context: UDIContext, _ arguments: Arguments?, making type: Any.Type) throws -> Instance? {
    if takesArguments {
      return try unsafe unsafeBitCast(function, to: MakingFromArguments.self).function(context, arguments)
    }
    // For references, the optional's metadata is not needed. If it were looked up, the runtime would make it for each
    // type, and keep it.
    switch words {
    case 1:
      let reference = try result(of: UInt.self, context)
      return unsafe Instance(owning: reference, (0, 0), wordCount: 1)
    case 2:
      let (reference, word) = try result(of: (UInt, UInt).self, context)
      return unsafe Instance(owning: reference, (word, 0), wordCount: 2)
    default:
      func make<Dependency>(_: Dependency.Type) throws -> Instance? {
        try result(of: Dependency?.self, context).map { Instance($0) }
      }
      return try _openExistential(type, do: make)
    }
  }

  /// Calls a function that takes no arguments.
  ///
  /// - Parameter type: The type that the function returns, or a type of plain words of the same size.
  @inline(__always)
  private func result<Result>(of type: Result.Type, _ context: UDIContext) throws -> Result {
    takesContext
      ? try unsafe unsafeBitCast(function, to: ReturningInContext<Result>.self).function(context)
      : try unsafe unsafeBitCast(function, to: Returning<Result>.self).function()
  }
}
