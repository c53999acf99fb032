/// Where a user's closures may run: anywhere, or on one actor alone.
///
/// A closure says so itself, because the verbs take it as `@isolated(any)`: one that was written in main-actor code belongs to the main
/// actor. Closures are kept as plain functions (`isolationErased`), and whoever calls one first asks `isHere`.
@usableFromInline
struct Isolation: Sendable {
  /// The actor; nil if the closures may run anywhere.
  let actor: (any Actor)?
  /// Whether the actor is the main actor, which is known without asking.
  let isMainActor: Bool

  private init(_ actor: (any Actor)?, isMainActor: Bool) {
    self.actor = actor
    self.isMainActor = isMainActor
  }

  @usableFromInline static let anywhere = Isolation(nil, isMainActor: false)
  @usableFromInline static let mainActor = Isolation(MainActor.shared, isMainActor: true)

  /// The isolation of closures that a verb was given together.
  ///
  /// - Parameters:
  ///   - first: The actor of one of them, if it belongs to one.
  ///   - second: The actor of the other.
  ///   - caller: The actor in whose code the verb is called. Closures that were written there say so themselves. References to functions
  ///     do not, in the Swift 5 mode, where both belong to the main actor only by the module's default isolation.
  ///   - site: The call of the verb.
  /// - Precondition: They do not belong to two actors: nothing could call both.
  @usableFromInline
  static func of(
    _ first: (any Actor)?, _ second: (any Actor)? = nil, in caller: (any Actor)?, _ site: CallSite
  ) -> Isolation {
    if let first, let second, first !== second {
      fatalError(
        """
        \(site.fileID):\(site.line): the closures that were given here belong to two actors, \(describe(first)) and \(describe(second)). \
        Both are called where the instance is made: write them for the same actor, or for none.
        """)
    }
    guard let actor = first ?? second else { return caller === MainActor.shared ? .mainActor : .anywhere }
    return actor === MainActor.shared ? .mainActor : Isolation(actor, isMainActor: false)
  }

  /// The isolation of a block that lookups run on their way, and so must not wait for another actor: none, or the main actor.
  ///
  /// - Precondition: It belongs to no other actor.
  @usableFromInline
  static func ofBlock(_ actor: (any Actor)?, in caller: (any Actor)?, _ verb: String) -> Isolation {
    guard let actor else { return caller === MainActor.shared ? .mainActor : .anywhere }
    guard actor === MainActor.shared else {
      fatalError(
        """
        the block given to `\(verb)` belongs to \(describe(actor)): lookups run it on their way, and cannot wait for an actor. Write it \
        for the main actor, or in a nonisolated function for none.
        """)
    }
    return .mainActor
  }

  /// The isolation of closures that make or get something that is not `Sendable`: the main actor.
  ///
  /// - Precondition: They belong to no other actor.
  @usableFromInline
  static func onMainActor(_ first: (any Actor)?, _ second: (any Actor)? = nil, _ site: CallSite) -> Isolation {
    if let other = [first, second].lazy.compactMap(\.self).first(where: { $0 !== MainActor.shared }) {
      fatalError(
        """
        \(site.fileID):\(site.line): a closure that was given here belongs to \(describe(other)), and gets or makes something that is \
        not Sendable, which stays on the main actor. Make the type Sendable, or the closure one of the main actor.
        """)
    }
    return .mainActor
  }

  /// Whether the closures may be called here.
  var isHere: Bool {
    guard let actor else { return true }
    if isMainActor { return MainActorCheck.isOnMainActor }
    // Only `obtain` leads to another actor in a way that can be known: see `Resolution.actor`.
    return PerThread.presentResolution?.read { $0.actor === actor } ?? false
  }

  /// A conversion that is released on the actor, because it may hold what is not `Sendable`.
  @usableFromInline
  func owning<Value, Result>(_ convert: @escaping (Value) -> Result) -> (Value) -> Result {
    guard let actor else { return convert }
    let owned = ActorOwned(convert, by: actor)
    return { owned.value($0) }
  }

  /// How messages name the actor.
  var name: String { actor.map(Self.describe) ?? "no actor" }

  private static func describe(_ actor: any Actor) -> String {
    actor === MainActor.shared ? "the main actor" : "the actor \(TypeIdentity.of(type(of: actor)).text)"
  }
}

// MARK: - Closures of any isolation as plain functions

// A function of any isolation is called as one of none is: its actor is a part of what it captures. The compiler refuses the conversion, because
// it would no longer see to the isolation; here `Isolation` does. The standard library's `MainActor.assumeIsolated` goes the same way.

/// A factory with arguments, or an initialiser with parameters. It is cast inside a struct: a function that is cast alone is wrapped before.
@usableFromInline
struct IsolatedFunction<Result, each Parameter> {
  private let function: @isolated(any) (repeat each Parameter) throws -> Result

  private struct Plain {
    let function: (repeat each Parameter) throws -> Result
  }

  @usableFromInline
  init(_ function: @escaping @isolated(any) (repeat each Parameter) throws -> Result) { self.function = function }

  /// The same without its isolation, to be called only where `Isolation.isHere` says that it may be.
  @usableFromInline var isolationErased: (repeat each Parameter) throws -> Result {
    unsafe unsafeBitCast(self, to: Plain.self).function
  }
}

/// The same for closures that return nothing and do not throw. The compiler crashes on one struct for both, generic over what is thrown (Swift 6.3).
@usableFromInline
struct IsolatedBlock<each Parameter> {
  private let function: @isolated(any) (repeat each Parameter) -> Void

  private struct Plain {
    let function: (repeat each Parameter) -> Void
  }

  @usableFromInline
  init(_ function: @escaping @isolated(any) (repeat each Parameter) -> Void) { self.function = function }

  /// The same without its isolation, to be called only where `Isolation.isHere` says that it may be.
  @usableFromInline var isolationErased: (repeat each Parameter) -> Void {
    unsafe unsafeBitCast(self, to: Plain.self).function
  }
}
