/// What a context answers the lookup of a key with. Slots point at nothing else.
///
/// An entry is a live instance that was bound, a provider that can make an instance, or an instance that a provider has
/// made and keeps. If a context has several of them for a key, bindings take precedence over providers, and an instance
/// that was made takes precedence over its provider.
class Entry: WeakEntry, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock; lookups read only constants.

  /// What a lookup does with the entry. The order matters: first come the kinds whose object is loaded weakly.
  enum Kind: UInt8 {
    /// A live instance that somebody else holds.
    case binding
    /// An instance that a provider made and somebody else holds.
    case observed
    /// An instance that a provider made and the context owns.
    case owned
    /// Like `owned`, but in a box: a value, or an object whose `StoredForm` does not suffice to rebuild it as its type.
    case boxed
    /// Not a dependency, but set-up blocks that have to run. No type's key leads to it.
    case setUp
    /// A provider that has to make an instance.
    case provider
    /// Like `provider`, but the instance might be there already, because this outermost link has made it before.
    case graphProvider
  }

  // In this order, and together with those of `Binding`, the stored properties fill 104 bytes, so that the allocation
  // wastes nothing.

  /// What a lookup does with the entry. Set before the entry is in a slot.
  final var kind: Kind
  /// The type and the reach that the dependency was registered with.
  final let registered: EntryForm
  /// Whether a set-up block of its context registered it.
  final var isFromSetUp = false
  /// Whether a watcher's lookup brought it into its context, see `ChangeKind`.
  final var comesFromLook = false
  /// Orders the entries of one context.
  final var serial: UInt32 = 0
  final let heldKey: HeldKey
  /// The node that it is in; nil before it is added and after it is taken out.
  final var node: Node?
  final let site: CallSite

  /// - Parameter form: The form of an object that is alive during the call. The entry refers to it only weakly.
  init(_ kind: Kind, _ form: StoredForm, key: consuming HeldKey, isExact: Bool, _ reach: Reach, _ site: CallSite) {
    self.kind = kind
    registered = EntryForm(isExact: isExact && form.isComplete, reach)
    heldKey = key
    self.site = site
    super.init(form)
  }

  /// Makes an entry that refers to no object weakly.
  init(_ kind: Kind, without form: StoredForm, key: consuming HeldKey, isExact: Bool, _ reach: Reach, _ site: CallSite)
  {
    self.kind = kind
    registered = EntryForm(isExact: isExact && form.isComplete, reach)
    heldKey = key
    self.site = site
    super.init(without: form)
  }

  final var reach: Reach { registered.reach }

  /// The key that it is registered under. This counts a reference: if the id is enough, use `keyID`.
  final var key: KeyIdentity { heldKey.identity.object }

  /// The key in the dictionary that contains the entry.
  final var boundKey: Unretained<KeyIdentity> { heldKey.identity }

  /// Reads the key without counting a reference.
  @inline(__always)
  final func readKey<Result>(_ body: (KeyIdentity) -> Result) -> Result { heldKey.identity.read(body) }

  /// The key's id.
  final var keyID: UInt64 { heldKey.identity.read { $0.id } }

  /// The name it is registered under.
  final var name: UDIName? { key.name }

  /// The metadata that the caller gave, to find the registration by.
  var metadata: (any Sendable)? { nil }

  /// Takes an entry that was found dead out of its context. Called under the tree lock.
  func withdraw(_ garbage: inout Garbage) {}

  /// Returns an instance when a lookup cannot read it by itself: makes the instance, or takes it out of its box.
  ///
  /// - Returns: Nil if the entry has left its context meanwhile; then the caller looks up again.
  func obtain(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? { nil }

  /// Whether the entry is a `Factory` of exactly this type that takes no arguments. Such a factory writes the instance
  /// directly to the memory of the lookup.
  final func isFactory(of type: Any.Type) -> Bool {
    guard kind.rawValue >= Kind.provider.rawValue else { return false }
    let provider = unsafe unsafeDowncast(self, to: Provider.self)
    return provider.isSimpleFactory && provider.madeType == type
  }

  /// Whether its instances were made as exactly this type.
  func makes(_ type: Any.Type) -> Bool { false }
}
