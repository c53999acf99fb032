/// A factory's function, without its types and its isolation. Call it only if `Isolation.isHere` allows that.
///
/// The struct stores the function itself, because a closure around it would take memory for each registration.
///
/// Marked safe, although it casts functions, because the casts do not change how a function is called. The cast type
/// returns the same optional, or plain words of the same size. A function with a generic result writes the result to
/// memory that the caller provides, however the type of the result is spelled. An isolated function is called like one
/// without isolation, because its actor is part of what it captures; the standard library's `MainActor.assumeIsolated`
/// relies on this, too.
@safe
struct FactoryFunction {
  /// Makes an instance from arguments, and writes the instance, or nil, to the memory.
  typealias Write = (UDIContext, Arguments, InstanceMemory) throws -> Void

  private let function: Returning<Void>
  private let takesContext: Bool
  /// The number of words that the function returns, if it returns a reference to a class instance or nil; otherwise 0.
  private let words: UInt8

  // Functions are cast inside a struct, because Swift would wrap a bare function before casting it. The first three
  // structs are generic over the instance's type rather than over the result's type, which is an optional. Otherwise
  // `register` would look up the metadata of that optional, and would take a tenth longer ("register 16 in a new
  // context, each" in `Benchmarks/compare`).

  private struct Making<Dependency> {
    let function: @isolated(any) () throws -> Dependency?
  }
  private struct MakingInContext<Dependency> {
    let function: @isolated(any) (UDIContext) throws -> Dependency?
  }
  private struct MakingAnywhere<Dependency> {
    let function: (UDIContext) throws -> Dependency?
  }
  private struct Returning<Result> {
    let function: () throws -> Result
  }
  private struct ReturningInContext<Result> {
    let function: (UDIContext) throws -> Result
  }
  private struct Writing {
    let function: Write
  }

  @inline(__always)
  init<Dependency>(_ make: __shared @escaping @isolated(any) () throws -> Dependency?) {
    function = unsafe unsafeBitCast(Making(function: make), to: Returning<Void>.self)
    takesContext = false
    words = Self.words(of: Dependency.self)
  }

  @inline(__always)
  init<Dependency>(_ make: __shared @escaping @isolated(any) (UDIContext) throws -> Dependency?) {
    function = unsafe unsafeBitCast(MakingInContext(function: make), to: Returning<Void>.self)
    takesContext = true
    words = Self.words(of: Dependency.self)
  }

  init<Dependency>(erased make: @escaping (UDIContext) throws -> Dependency?) {
    function = unsafe unsafeBitCast(MakingAnywhere(function: make), to: Returning<Void>.self)
    takesContext = true
    words = Self.words(of: Dependency.self)
  }

  /// Wraps a factory that takes arguments. Call the wrapped function only with arguments.
  init<Dependency, First, each More>(
    _ make: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?
  ) {
    let make = IsolatedFunction(make).isolationErased
    let write: Write = { context, arguments, memory in
      let pack = try arguments.read(as: ArgumentPack<First, repeat each More>.self)
      let pointer = unsafe memory.address.assumingMemoryBound(to: Dependency?.self)
      unsafe pointer.initialize(to: try make(context, pack.first, repeat each pack.more))
    }
    function = unsafe unsafeBitCast(Writing(function: write), to: Returning<Void>.self)
    takesContext = true
    words = 0
  }

  @inline(__always)
  private static func words<Dependency>(of type: Dependency.Type) -> UInt8 {
    TypeMetadata(type).holdsReferences ? UInt8(MemoryLayout<Dependency>.size / MemoryLayout<UInt>.size) : 0
  }

  /// Calls a factory that takes no arguments, and writes its result to `memory`.
  ///
  /// - Parameter type: The type of the instances.
  @inline(__always)
  func call(_ context: UDIContext, making type: Any.Type, _ memory: InstanceMemory) throws {
    // For references, the optional's metadata is not needed. If it were looked up, the runtime would make it for each
    // type, and keep it.
    switch words {
    case 1: try call(context, returning: UInt.self, memory)
    case 2: try call(context, returning: (UInt, UInt).self, memory)
    case 3: try call(context, returning: (UInt, UInt, UInt).self, memory)
    default:
      func call<Dependency>(making: Dependency.Type) throws {
        try self.call(context, returning: Dependency?.self, memory)
      }
      try _openExistential(type, do: call)
    }
  }

  @inline(__always)
  private func call<Result>(_ context: UDIContext, returning: Result.Type, _ memory: InstanceMemory) throws {
    let pointer = unsafe memory.address.assumingMemoryBound(to: Result.self)
    if takesContext {
      let typed = unsafe unsafeBitCast(function, to: ReturningInContext<Result>.self)
      unsafe pointer.initialize(to: try typed.function(context))
    } else {
      let typed = unsafe unsafeBitCast(function, to: Returning<Result>.self)
      unsafe pointer.initialize(to: try typed.function())
    }
  }

  /// Calls a factory that takes arguments, and writes its result to `memory`.
  func call(_ context: UDIContext, _ arguments: Arguments, _ memory: InstanceMemory) throws {
    try unsafe unsafeBitCast(function, to: Writing.self).function(context, arguments, memory)
  }
}
