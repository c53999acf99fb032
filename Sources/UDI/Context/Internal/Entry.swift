/// What a context answers a key with: the one kind of thing that slots point at.
///
/// A live instance that was bound, a provider that can make one, or what a provider has made and keeps. A context
/// answers with the first of these that it has: bindings come before providers, and what is made before its provider.
class Entry: WeakEntry, @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock; lookups read only what is constant.

  /// What a lookup does with it. In this order: those whose object is loaded weakly come first.
  enum Kind: UInt8 {
    /// A live instance that somebody else keeps.
    case binding
    /// What a provider made and somebody else keeps.
    case observed
    /// What a provider made and the context owns.
    case owned
    /// The same for a value, or for an object in a form that a lookup cannot rebuild.
    case boxed
    /// Nothing: set-up blocks that have to run. Under no type's key.
    case setUp
    /// Something has to be made.
    case provider
    /// The same, but perhaps not for the first time in this link.
    case graphProvider
  }

  // In this order, with a `Binding`'s, they fill 104 bytes, with which an allocation wastes nothing.

  @exclusivity(unchecked) private final var uncheckedKind: Kind
  /// As which type, and with which reach, it was registered.
  final let registered: EntryForm
  @exclusivity(unchecked) private final var uncheckedIsFromSetUp = false
  @exclusivity(unchecked) private final var uncheckedComesFromLook = false
  @exclusivity(unchecked) private final var uncheckedSerial: UInt32 = 0
  private final let heldKey: HeldKey
  @exclusivity(unchecked) private final var uncheckedNode: Node?
  final let site: CallSite

  /// - Parameter form: Of an object that is alive during the call. It is only referred to weakly.
  init(_ kind: Kind, _ form: StoredForm, key: consuming HeldKey, isExact: Bool, _ reach: Reach, _ site: CallSite) {
    unsafe uncheckedKind = kind
    registered = EntryForm(isExact: isExact && form.isComplete, reach)
    heldKey = key
    self.site = site
    super.init(form)
  }

  /// An entry that refers to no object weakly.
  init(_ kind: Kind, without form: StoredForm, key: consuming HeldKey, isExact: Bool, _ reach: Reach, _ site: CallSite)
  {
    unsafe uncheckedKind = kind
    registered = EntryForm(isExact: isExact && form.isComplete, reach)
    heldKey = key
    self.site = site
    super.init(without: form)
  }

  final var reach: Reach { registered.reach }

  /// What it is registered under. Counts a reference: where the id is enough ask for that.
  final var key: KeyIdentity { heldKey.identity.object }

  /// The key in a dictionary that has the entry.
  final var boundKey: BoundKey { BoundKey(heldKey.identity) }

  /// Reads the key without counting a reference.
  @inline(__always)
  final func readKey<Result>(_ body: (KeyIdentity) -> Result) -> Result { heldKey.identity.read(body) }

  /// The key's id.
  final var keyID: UInt64 { heldKey.identity.read { $0.id } }

  /// What a lookup does with it. Settled before the entry is in a slot.
  final var kind: Kind {
    get { unsafe uncheckedKind }
    set { unsafe uncheckedKind = newValue }
  }

  /// Orders the entries of one context. Under the tree lock, which excludes overlapping accesses without a check of each.
  final var serial: UInt32 {
    get { unsafe uncheckedSerial }
    set { unsafe uncheckedSerial = newValue }
  }

  /// Whether a set-up block of its context registered it. Under the tree lock.
  final var isFromSetUp: Bool {
    get { unsafe uncheckedIsFromSetUp }
    set { unsafe uncheckedIsFromSetUp = newValue }
  }

  /// Whether a look for a watcher brought it into its context, see `ChangeKind`. Under the tree lock.
  final var comesFromLook: Bool {
    get { unsafe uncheckedComesFromLook }
    set { unsafe uncheckedComesFromLook = newValue }
  }

  /// The node that it is in; nil before and afterwards. Under the tree lock.
  final var node: Node? {
    get { unsafe uncheckedNode }
    set { unsafe uncheckedNode = newValue }
  }

  /// The name it is registered under.
  final var name: UDIName? { key.name }

  /// What the registration was described with, to find it by.
  var metadata: (any Sendable)? { nil }

  /// Takes an entry that was found dead out of its context. Under the tree lock.
  func withdraw(_ garbage: inout Garbage) {}

  /// An instance, where a lookup cannot hand one out itself: made, or taken out of its box.
  ///
  /// - Returns: Nil if the entry has left its context meanwhile: to be looked up again.
  func obtain(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? { nil }

  /// Whether it is a `Factory` of this very type, which writes what it makes to where a lookup wants it.
  final func isFactory(of type: Any.Type) -> Bool {
    guard kind.rawValue >= Kind.provider.rawValue else { return false }
    let provider = unsafe unsafeDowncast(self, to: Provider.self)
    return provider.isFactory && provider.madeType == type
  }

  /// Whether what it gives was made as this very type.
  func makes(_ type: Any.Type) -> Bool { false }
}
