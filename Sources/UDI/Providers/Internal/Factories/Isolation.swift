/// Where a user's closures may run: anywhere, or only on one actor.
///
/// The verbs take closures as `@isolated(any)`, so each closure carries its actor with it: a closure that was written
/// in main-actor code belongs to the main actor. Synchronous closures are then stored as plain functions, and callers
/// must check `isHere` before they call one. Asynchronous ones move to their actor by themselves.
struct Isolation: Sendable {
  /// The actor; nil if the closures may run anywhere.
  let actor: (any Actor)?
  /// Whether the actor is the main actor. Stored, so that `isHere` does not have to compare actors.
  let isMainActor: Bool

  private init(_ actor: (any Actor)?) {
    self.actor = actor
    isMainActor = actor != nil && actor === MainActor.shared
  }

  static var anywhere: Isolation { Isolation(nil) }
  static var mainActor: Isolation { Isolation(MainActor.shared) }

  /// The actor on which a provider's closures and instances have to be released, because they might hold objects that
  /// are not `Sendable`; nil if they may be released anywhere.
  func owner(_ reach: UDIReach) -> (any Actor)? { reach == .mainActor ? MainActor.shared : actor }

  /// Determines the isolation of the closures that were passed to one call of a verb.
  ///
  /// - Parameters:
  ///   - first: The actor of the first closure, if it belongs to one.
  ///   - second: The actor of the second closure, if it belongs to one.
  ///   - caller: The actor in whose code the verb is called. It is needed for references to functions. Unlike closures,
  ///     these do not always carry their isolation: in the Swift 5 mode, the isolation is lost if the function belongs
  ///     to the main actor only because of its module's default isolation.
  ///   - site: Where the verb was called.
  /// - Precondition: The closures do not belong to two different actors, because no caller could call both.
  static func of(
    _ first: (any Actor)?, _ second: (any Actor)? = nil, in caller: (any Actor)?, at site: UDICallSite
  ) -> Isolation {
    if let first, let second, first !== second {
      fatalError(
        """
        \(site.fileID):\(site.line): the closures given here belong to two actors, \(describe(first)) and \
        \(describe(second)). Both are called where the instance is made: write them for the same actor, or for none.
        """)
    }
    return Isolation(first ?? second ?? (caller === MainActor.shared ? caller : nil))
  }

  /// Determines the isolation of a factory.
  ///
  /// - Parameter reach: Where everything that the factory makes and receives may be used.
  /// - Precondition: If `reach` is the main actor, the factory belongs to no other actor.
  @inline(__always)
  static func of(_ factory: (any Actor)?, reach: UDIReach, _ request: borrowing RegisterRequest) -> Isolation {
    guard reach == .anywhere else { return onMainActor(factory, at: request.site) }
    // Most factories belong to no actor.
    if factory == nil, request.caller == nil { return .anywhere }
    return of(factory, in: request.caller, at: request.site)
  }

  /// Determines the isolation of closures that make or receive something that is not `Sendable`: the main actor.
  ///
  /// - Precondition: The closures belong to no actor other than the main actor.
  @inline(never) static func onMainActor(_ actor: (any Actor)?, at site: UDICallSite) -> Isolation {
    if let other = actor, other !== MainActor.shared {
      fatalError(
        """
        \(site.fileID):\(site.line): a closure given here belongs to \(describe(other)), but receives or makes \
        something that is not Sendable and so stays on the main actor. Make the type Sendable, or write the closure in \
        main-actor code.
        """)
    }
    return .mainActor
  }

  /// Whether the closures may be called here.
  var isHere: Bool {
    // The main actor comes first, because its closures are known without a reference to the actor.
    if isMainActor {
      // Usually the main actor runs on the first thread, which a resolution knows without asking the system. Asking it
      // would make an instance take a seventh more instructions ("made" in `Benchmarks/instructions`).
      return ThreadState.hereIfAny?.read { $0.isOfFirstThread } == true || runsOnMainActor
    }
    guard let actor else { return true }
    // There is no way to find out whether this code runs on another actor, unless `obtain` has moved the lookup to that
    // actor: see `Resolution.actor`.
    return Resolution.present?.read { $0.actor === actor } ?? false
  }

  /// The actor's name in messages.
  var name: String { actor.map(Self.describe) ?? "no actor" }

  private static func describe(_ actor: any Actor) -> String {
    actor === MainActor.shared ? "the main actor" : "the actor \(describeType(type(of: actor)))"
  }
}

// MARK: - Closures of any isolation as plain functions

// A function with an isolation is called in the same way as a function without one, because the actor is part of what
// the function captures. The compiler refuses the conversion, because it could no longer enforce the isolation. In this
// library `Isolation` enforces it. The standard library's `MainActor.assumeIsolated` converts functions in the same
// way.

/// A function of any isolation, such as an initialiser or a factory that takes arguments. The function is cast inside a
/// struct, because Swift would wrap a bare function before casting it.
///
/// The parameters are spelled as in `register(using:)`. If they were a single pack, the compiler would wrap the
/// function twice to rearrange them, and each registration would take 144 bytes more. A function whose first parameter
/// is the context is wrapped in that way if it takes any others.
struct IsolatedFunction<Result, First, each More> {
  let function: @isolated(any) (First, repeat each More) throws -> Result

  private struct Plain { let function: (First, repeat each More) throws -> Result }

  /// The same function without its isolation. Call it only if `Isolation.isHere` allows that.
  ///
  /// The type says that the function throws, even if it does not: the compiler (Swift 6.3) crashes on a struct that is
  /// generic over the error.
  var isolationErased: (First, repeat each More) throws -> Result {
    unsafe unsafeBitCast(self, to: Plain.self).function
  }
}

/// An asynchronous function of the main actor that need not be `Sendable`.
struct MainActorFunction<Result, First, each More> {
  private let function: @MainActor (First, repeat each More) async throws -> Result

  private struct AnyIsolation { let function: @isolated(any) (First, repeat each More) async throws -> Result }

  /// - Parameter function: A function of the main actor, or of none. The cast is safe because an asynchronous function
  ///   is called in the same way whatever its isolation: it moves to its actor by itself.
  init(_ function: @escaping @isolated(any) (First, repeat each More) async throws -> Result) {
    self = unsafe unsafeBitCast(AnyIsolation(function: function), to: Self.self)
  }

  // If an asynchronous function took a parameter pack and passed it on, the program would crash (Swift 6.3: "freed
  // pointer was not the last allocation").
  @MainActor
  func call(_ first: First, _ more: (repeat each More)) async throws -> Result {
    try await function(first, repeat each more)
  }
}
