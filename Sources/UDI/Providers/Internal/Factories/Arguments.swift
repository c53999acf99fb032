/// The arguments of a link. They stay where the caller has put them, usually on its stack, and are valid until the call
/// that they are passed to has returned.
///
/// Marked safe, although this is a pointer to a pack, because every use ends before the pack's lifetime does. A verb
/// creates the pack and passes the pointer down, and a `Resolution.Frame` keeps the pointer while the factory runs.
/// Code that needs the arguments for longer copies them into `KeptArguments`.
@usableFromInline @safe
struct Arguments {
  /// The part of a pack that does not depend on the types of the arguments. It is the first property of every pack.
  @usableFromInline
  struct Header {
    /// The type of the pack.
    @usableFromInline let type: any AnyArgumentPack.Type
    /// The arguments as a key; nil before `key(for:)` is called, and if one of them is not `Hashable`.
    @usableFromInline var key: ArgumentKey?

    @_alwaysEmitIntoClient
    init(_ type: any AnyArgumentPack.Type) { self.type = type }
  }

  @usableFromInline let header: UnsafeMutablePointer<Header>

  /// - Parameter pack: The arguments. The pack must stay alive, and at its address, for as long as the result is used.
  // The cast to `Header` is correct because `ArgumentPack` is the only pack, and its first property is the header. A
  // struct's properties are laid out in their order, so the header has the address of the pack itself (Type Layout,
  // "Fragile Struct and Tuple Layout", in the Swift repository: docs/ABI/TypeLayout.rst).
  @unsafe @_alwaysEmitIntoClient
  init<Pack: AnyArgumentPack>(_ pack: UnsafeMutablePointer<Pack>) {
    unsafe header = UnsafeMutableRawPointer(pack).assumingMemoryBound(to: Header.self)
  }

  /// The type of the pack.
  var type: any AnyArgumentPack.Type { unsafe header.pointee.type }

  /// Copies the arguments with the types that a factory takes: unchanged if they have exactly these types, otherwise
  /// cast one by one.
  ///
  /// - Throws: `ProviderFailure.arguments` if the number or the types do not match.
  func read<Pack: AnyArgumentPack>(as type: Pack.Type) throws -> Pack {
    guard self.type == type else { return try Pack(casting: values) }
    return unsafe pack(type).pointee
  }

  /// The arguments, each as `Any`.
  var values: [Any] {
    func erase<Pack: AnyArgumentPack>(_ type: Pack.Type) -> [Any] { unsafe pack(type).pointee.values }
    return erase(self.type)
  }

  /// The dynamic types of the arguments.
  var types: [Any.Type] { values.map { Swift.type(of: $0) } }

  /// The arguments as a key for one provider; nil if one of them is not `Hashable`.
  ///
  /// The key is made unless the last call was for a provider of the same reach. Making it calls the user's
  /// `hash(into:)`. Call this only on one thread at a time, with no lock held.
  func key(for provider: Provider) -> ArgumentKey? {
    let belongsToMainActor = provider.reach == .mainActor
    if let key = unsafe header.pointee.key, key.belongsToMainActor == belongsToMainActor { return key }
    func hashables<Pack: AnyArgumentPack>(_ type: Pack.Type) -> [any Hashable]? { unsafe pack(type).pointee.hashables }
    guard let hashables = hashables(self.type) else { return nil }
    let new = ArgumentKey(hashables, belongsToMainActor: belongsToMainActor)
    unsafe header.pointee.key = new
    return new
  }

  /// - Parameter type: The type of the pack. Must be `self.type`.
  fileprivate func pack<Pack: AnyArgumentPack>(_ type: Pack.Type) -> UnsafeMutablePointer<Pack> {
    unsafe UnsafeMutableRawPointer(header).assumingMemoryBound(to: type)
  }
}

/// A copy of the arguments of a link, which outlives the call that they were passed to.
@usableFromInline
final class KeptArguments: @unchecked Sendable {
  // Unchecked: only one task or thread uses the arguments at a time. `obtain` passes them to another actor and waits
  // until that actor is done. Besides, arguments that might not be `Sendable` go only to factories on the main actor:
  // see `Provider.rejectArguments`.
  let arguments: Arguments

  init<Pack: AnyArgumentPack>(_ pack: consuming Pack) { arguments = Self.keep(pack) }

  /// Copies arguments.
  init(_ given: Arguments) {
    func copy<Pack: AnyArgumentPack>(_ type: Pack.Type) -> Arguments { unsafe Self.keep(given.pack(type).pointee) }
    arguments = copy(given.type)
  }

  private static func keep<Pack: AnyArgumentPack>(_ pack: consuming Pack) -> Arguments {
    let kept = UnsafeMutablePointer<Pack>.allocate(capacity: 1)
    unsafe kept.initialize(to: pack)
    return unsafe Arguments(kept)
  }

  deinit {
    func end<Pack: AnyArgumentPack>(_ type: Pack.Type) {
      let pack = unsafe arguments.pack(type)
      unsafe pack.deinitialize(count: 1)
      unsafe pack.deallocate()
    }
    end(arguments.type)
  }
}

/// The arguments of a link, with their types. A verb puts them on its stack. Parameters of asynchronous functions are
/// passed in a pack, too.
@usableFromInline
struct ArgumentPack<each Argument>: AnyArgumentPack {
  /// The first property, because `Arguments` expects the header at the pack's address.
  @usableFromInline var header: Arguments.Header
  @usableFromInline let all: (repeat each Argument)

  @_alwaysEmitIntoClient
  init(_ all: repeat each Argument) {
    header = Arguments.Header(Self.self)
    self.all = (repeat each all)
  }

  @usableFromInline
  init(casting values: [Any]) throws {
    var mismatch: ProviderFailure { .arguments(wanted: Self.types, given: values.map { type(of: $0) }) }
    guard values.count == Self.types.count else { throw mismatch }
    var rest = values[...]
    func next<Next>(_ type: Next.Type) throws -> Next {
      guard let argument = rest.removeFirst() as? Next else { throw mismatch }
      return argument
    }
    self.init(repeat try next((each Argument).self))
  }

  @usableFromInline static var types: [Any.Type] {
    var types: [Any.Type] = []
    for type in repeat (each Argument).self { types.append(type) }
    return types
  }

  /// The type, if there are arguments; otherwise nil.
  static var wanted: (any AnyArgumentPack.Type)? { types.isEmpty ? nil : Self.self }

  /// Copies the arguments that a factory was given; none if it takes none.
  static func read(_ all: Arguments?) throws -> Self { try all == nil ? Self(casting: []) : all!.read(as: Self.self) }

  @usableFromInline var hashables: [any Hashable]? {
    var hashables: [any Hashable] = []
    for argument in repeat each all {
      guard let comparable = ArgumentKey.comparable(argument) else { return nil }
      hashables.append(comparable)
    }
    return hashables
  }

  @usableFromInline var values: [Any] {
    var values: [Any] = []
    for argument in repeat each all { values.append(argument) }
    return values
  }
}

/// An `ArgumentPack`, whatever the types of its arguments.
@usableFromInline
protocol AnyArgumentPack: SendableMetatype {
  /// The types of the arguments.
  static var types: [Any.Type] { get }
  /// The arguments, each as `Any`.
  var values: [Any] { get }
  /// The arguments in a form that can be compared; nil if one of them is not `Hashable`.
  var hashables: [any Hashable]? { get }
  /// Casts arguments one by one to the types of this pack.
  ///
  /// - Throws: `ProviderFailure.arguments` if the number or the types do not match.
  init(casting values: [Any]) throws
}
