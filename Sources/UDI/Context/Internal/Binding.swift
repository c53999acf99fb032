/// A binding: the weak entry for one key in one context.
class Binding: WeakEntry, @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock; lookups read only what is constant.

  /// Who called the verb that made it.
  enum Binder: UInt8 {
    case context
    /// The bound object itself.
    case instance
    /// Another object: it is a `HelperBinding`.
    case other
  }

  // In this order they fill 104 bytes, with which an allocation wastes nothing.

  final let binder: Binder
  /// Whether `multiBind` made it, which an object's later attachments leave alone.
  final let isMulti: Bool
  /// Whether it was captured as the very type that lookups for its key normally name, so that its form fits theirs.
  final let isExact: Bool
  @exclusivity(unchecked) private final var uncheckedSerial: UInt32 = 0
  final let key: KeyIdentity
  @exclusivity(unchecked) private final var uncheckedNode: Node?
  @exclusivity(unchecked) private final var uncheckedPrevious: Unretained<Binding>?
  @exclusivity(unchecked) private final var uncheckedNext: Unretained<Binding>?
  final let site: CallSite

  init(_ offer: borrowing Offer, binder: Binder) {
    let (identity, token) = TypeIdentity.andToken(of: offer.type)
    self.binder = binder
    isMulti = offer.isMulti
    isExact = offer.form.isComplete && token.isExact
    key = identity.read { KeyIdentity.of($0, offer.name) }
    site = offer.site
    super.init(offer.form)
  }
}

// MARK: - Guarded by the tree lock, which excludes overlapping accesses without a check of each

extension Binding {
  /// Orders the bindings of one context.
  var serial: UInt32 {
    get { unsafe uncheckedSerial }
    set { unsafe uncheckedSerial = newValue }
  }

  /// Where it is bound; nil before and afterwards.
  var node: Node? {
    get { unsafe uncheckedNode }
    set { unsafe uncheckedNode = newValue }
  }

  /// The binding of the same instance that was made after this one.
  var previousOfInstance: Unretained<Binding>? {
    get { unsafe uncheckedPrevious }
    set { unsafe uncheckedPrevious = newValue }
  }

  /// The binding of the same instance that was made before this one.
  var nextOfInstance: Unretained<Binding>? {
    get { unsafe uncheckedNext }
    set { unsafe uncheckedNext = newValue }
  }
}

/// A binding of another instance than the object whose verb made it.
final class HelperBinding: Binding, @unchecked Sendable {
  // Unchecked: it adds a constant.

  /// Whose verb made it. The binding is withdrawn with that object, so the reference never dangles.
  let maker: Unretained<UDIAttachment>

  init(_ offer: borrowing Offer, maker: UDIAttachment) {
    self.maker = Unretained(maker)
    super.init(offer, binder: .other)
  }
}

// MARK: - Where an instance is bound

/// The bindings of one instance, wherever they are: a list through the bindings, found by the object's address.
///
/// An address is only a hint. When an object dies and another one takes its place in memory, dead bindings of the first are in the
/// list until somebody comes across them; they can do no harm there, because a dead binding is withdrawn whenever it is touched.
struct InstanceChain: CompactTableElement {
  /// The address. Here, too, because in a large table a look at the binding would mostly miss the cache.
  let key: UInt
  let first: Unretained<Binding>
  static func hash(_ key: UInt) -> UInt { scrambled(key) }

  /// The bindings at an address. Under the tree lock.
  static func bindings(at address: UInt, _ body: (Binding) -> Void) {
    var next = unsafe Tree.instances.find(address)?.element.first
    while let current = next {
      // Read first: `body` may withdraw the binding, which then is garbage, and so alive until the lock is given back.
      next = current.read { $0.nextOfInstance }
      current.read(body)
    }
  }
}

extension Binding {
  /// Adds the binding to the lists that lead to it. Under the tree lock.
  func enlist() {
    let address = form.address
    let me = Unretained(self)
    if let place = unsafe Tree.instances.find(address) {
      let second = place.element.first
      nextOfInstance = second
      second.object.previousOfInstance = me
      place.element = InstanceChain(key: address, first: me)
    } else {
      unsafe Tree.instances.insert(InstanceChain(key: address, first: me))
    }
    if binder == .other, let helper = self as? HelperBinding { helper.maker.read { $0.didBind(helper) } }
  }

  /// Takes the binding out of those lists. Under the tree lock.
  func delist() {
    if let previous = previousOfInstance {
      previous.object.nextOfInstance = nextOfInstance
    } else if let next = nextOfInstance {
      if let place = unsafe Tree.instances.find(form.address) {
        place.element = InstanceChain(key: form.address, first: next)
      }
    } else {
      unsafe Tree.instances.remove(form.address)
    }
    nextOfInstance?.object.previousOfInstance = previousOfInstance
    previousOfInstance = nil
    nextOfInstance = nil
    if binder == .other, let helper = self as? HelperBinding { helper.maker.read { $0.didUnbind(helper) } }
  }
}
