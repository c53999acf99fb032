/// A context's answer to lookups of one key. Slots refer only to entries.
///
/// An entry is an instance that was bound, a provider, an instance that a provider keeps, or a test's override. If a
/// context has several entries for a key, an override takes precedence over a binding, a binding over a provider, and a
/// kept instance over its provider.
package class Entry: WeakEntry, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock; `Node.attempt`, which runs without it, reads only what is
  // constant while a slot refers to the entry.

  /// How a lookup handles the entry. The order matters: kinds with a weakly held object come first, providers last, and
  /// both are asked for by comparing.
  enum Kind: UInt8 {
    /// A bound instance, which something else holds.
    case binding
    /// An instance that a provider made and keeps weakly: something else holds it.
    case observed
    /// An instance that the context owns, because a provider keeps it; or the value of an override.
    case owned
    /// Like `owned`, but in a box (`ValueBox`), because the instance is not an object.
    case boxed
    /// A provider, which has to be asked for the instance.
    case provider
    /// Like `provider`, but the graph of the current link may have the instance already.
    case graphProvider
    /// The keeper of a provider's instances for one scope (`ScopeKeeper`). Slots do not refer to it.
    case scoped
    /// Whether the instance is held by something else, and not by the entry.
    var isWeak: Bool { self == .binding || self == .observed }
  }

  // With the properties in this order, a `Binding` takes 104 bytes, which glibc's `malloc` allocates without padding.

  /// How a lookup handles the entry. Constant once a slot refers to the entry.
  final var kind: Kind
  /// The type and the reach that the dependency was registered with.
  final let registered: RegisteredType
  /// Whether a look (a lookup for a watcher) has registered, bound or made this; see `ChangeKind`.
  final var comesFromLook = false
  /// The entry's number in the order of registration in its context.
  final var serial: UInt32 = 0
  /// The key under which the entry is registered.
  package final let key: KeyIdentity
  /// The node of the entry's context; nil while the entry is in none, and for an instance in a cache.
  final var node: Node?
  /// The same for other modules. If they could read `node` itself, each access would be checked at run time ("register"
  /// in `Benchmarks/instructions`).
  package final var place: Node? { node }
  package final let site: UDICallSite

  /// - Parameter form: The form of the object. If the entry holds the object weakly, it must be alive during the call.
  init(_ kind: Kind, _ form: StoredForm, key: KeyIdentity, isExact: Bool, reach: UDIReach, at site: UDICallSite) {
    self.kind = kind
    registered = RegisteredType(isExact: isExact && form.isComplete, reach)
    self.key = key
    self.site = site
    super.init(form, isWeak: kind.isWeak)
  }

  package final var reach: UDIReach { registered.reach }

  /// The weakly held object, if it is alive. The garbage holds it, because this reference might be the last one.
  package final func liveObject(_ garbage: inout Garbage) -> AnyObject? { garbage.held(object, reach) }

  /// Whether a lookup would find the entry: false for a binding whose object has been released.
  final func isThere(_ garbage: inout Garbage) -> Bool { kind != .binding || liveObject(&garbage) != nil }

  /// The key's id.
  final var keyID: UInt64 { key.id }

  /// The name under which the entry is registered, if it has one.
  final var name: UDIName? { key.name }

  /// The metadata that the registration was given, by which `registrations` can find it.
  var metadata: (any Sendable)? { nil }

  /// Notes that this entry helps to make the instance that is being made now: see `Provider.noteHelp`. Call this under
  /// the tree lock.
  func noteHelp() {}

  /// Removes this entry, which is dead or no longer wanted: a binding from its context, an instance from the provider
  /// that keeps it. Never called for an override. A provider forgets an instance that it keeps weakly and that has been
  /// released. Called under the tree lock.
  func withdraw(_ garbage: inout Garbage) {}

  /// Whether a look has registered or bound this. (What a provider keeps comes and goes with the provider.)
  var isRegisteredByLook: Bool { comesFromLook }

  /// The kind of change that watchers are notified of when the entry is added or removed.
  final var changeKind: ChangeKind { isRegisteredByLook ? .ofLook : .answer }

  /// The entry that slots refer to for this one, if it is not hidden.
  var current: Entry { self }

  /// Answers a lookup with arguments, or for a fresh instance: with the provider itself instead of an instance that it
  /// keeps. Overrides are answers all the same. Called under the tree lock.
  ///
  /// - Parameter behindBindings: Whether to answer with the provider that a live binding hides, instead of with the
  ///   binding.
  func answerToMake(
    _ wanted: WantedType, behindBindings: Bool, into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer { unsafe answer(wanted, into: memory) }

  /// The answer to such a lookup if a provider keeps an instance.
  func answer(insteadOf kept: InstanceEntry) -> LookupAnswer { .provided(self) }

  /// Forgets an instance that a provider keeps.
  func forget(_ kept: InstanceEntry?, _ garbage: inout Garbage) {}

  /// Answers for a provider of the kind `graphProvider`.
  func answerFromGraph(_ wanted: WantedType, into memory: UnsafeMutableRawPointer) -> LookupAnswer { .provided(self) }

  // MARK: - Answering lookups

  /// Answers a lookup. Writes the dependency to memory if that is possible at once, and otherwise says what is left to
  /// do.
  @inline(__always)
  final func answer(_ wanted: WantedType, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    // The entry holds its object weakly.
    if kind.rawValue <= Kind.observed.rawValue {
      guard registered.fits(wanted) else { return answerToBeCast(wanted.reach) }
      guard let object else { return .dead }
      unsafe form.write(object, to: memory)
      return .written
    }
    guard kind == .owned, let owned = unsafe unsafeDowncast(self, to: InstanceEntry.self).owned else {
      // The caller has the instance made, or takes it out of its box, while no lock is held.
      return kind == .graphProvider ? unsafe answerFromGraph(wanted, into: memory) : .provided(self)
    }
    guard registered.fits(wanted) else {
      return registered.isRefused(to: wanted.reach) ? .provided(self) : .object(owned)
    }
    unsafe form.write(owned, to: memory)
    return .written
  }

  /// Answers for an entry whose object is held weakly, and has to be cast for this lookup or refused to it.
  @inline(never)
  private final func answerToBeCast(_ reach: UDIReach) -> LookupAnswer {
    // The reach is checked before the object is loaded. A thread that may not use the object must not hold it either:
    // if all other references went away in the meantime, that thread would release the object.
    return registered.isRefused(to: reach) ? .provided(self) : object.map { .object($0) } ?? .dead
  }
}

/// The entry for an instance that a provider keeps, or for the value of an override. Slots refer to this entry instead
/// of to the provider, unless a cache keeps the instance.
package final class InstanceEntry: Entry, @unchecked Sendable {
  // Unchecked: this class adds only properties that stay constant until `deinit`.

  /// The instance, or the box that contains it, if the entry holds it strongly; nil if it holds it weakly. Written only
  /// in `init` and `deinit`, so accesses need no check for overlaps.
  @safe @exclusivity(unchecked) private(set) var owned: AnyObject?
  private let reference: Unretained<Entry>

  /// - Parameters:
  ///   - keeper: The provider that keeps the instance.
  ///   - isWeak: Whether to hold the instance weakly, because its users keep it alive.
  init(_ instance: borrowing Instance, keptBy keeper: __shared Entry, isExact: Bool, isWeak: Bool) {
    reference = Unretained(keeper)
    owned = isWeak ? nil : instance.object
    super.init(
      isWeak ? .observed : instance.isBox ? .boxed : .owned, instance.form, key: keeper.key, isExact: isExact,
      reach: keeper.reach, at: keeper.site)
  }

  // The context that owns this entry can be released on any thread, but an instance that is not `Sendable` must be
  // released on the main actor.
  deinit { if reach == .mainActor, let owned = owned.take() { releaseOnMainActor(consume owned) } }

  /// The instance, or nil if it has been released.
  var instance: Instance? { (owned ?? object).map { Instance(object: $0, form: form, isBox: kind == .boxed) } }

  /// The provider that keeps the instance. Call this only under a lock that guards a slot that refers to this entry. As
  /// long as the slot refers to the entry, the provider is alive.
  var keeper: Entry { reference.object }

  override var isRegisteredByLook: Bool { keeper.comesFromLook }

  override func noteHelp() { if node != nil { keeper.noteHelp() } }

  override func withdraw(_ garbage: inout Garbage) { keeper.forget(self, &garbage) }

  override func answerToMake(
    _ wanted: WantedType, behindBindings: Bool, into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer { keeper.answer(insteadOf: self) }
}

/// Decides whether a lookup may take an entry's stored words as they are. That depends on whether they belong to
/// exactly the type that is recorded for the key, and on the entry's reach.
struct RegisteredType {
  private let bits: UInt8

  /// - Parameters:
  ///   - isExact: Whether the entry's stored words belong to exactly the type that is recorded for its key
  ///     (`TypeToken.isExact`).
  ///   - reach: Where the dependency may be used.
  init(isExact: Bool, _ reach: UDIReach) {
    let isSendable = reach == .anywhere
    bits = (isSendable ? 0b100_0000 : 0) | (isExact ? 0b10 : 0) | (isExact && isSendable ? 0b01 : 0)
  }

  var reach: UDIReach { bits & 0b100_0000 != 0 ? .anywhere : .mainActor }

  /// Whether a lookup may take the entry's stored words as they are: the lookup may have the dependency, and asks for
  /// exactly the type that the words belong to.
  @inline(__always)
  func fits(_ wanted: WantedType) -> Bool { UInt(bits) & wanted.bits != 0 }

  /// Whether the dependency must be refused to a lookup, because the lookup asks for a `Sendable` type but the entry
  /// was registered under a type that is not `Sendable`.
  func isRefused(to reach: UDIReach) -> Bool { reach == .anywhere && self.reach == .mainActor }
}
