/// A binding: the weak entry for one key in one context.
///
final class Binding: WeakEntry, @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock; lookups read only what is constant.

  let key: KeyIdentity
  let site: CallSite
  /// Whether `multiBind` made it, which an object's later attachments leave alone.
  let isMulti: Bool
  /// Whether it was captured as the very type that lookups for its key normally name, so that its form fits theirs.
  let isExact: Bool

  /// Where it is bound; nil before and afterwards.
  var node: Node?
  /// Orders the bindings of one context.
  var serial: UInt32 = 0
  /// Who bound it, if an object did. That is withdrawn with its binder, so the reference never dangles.
  var binder: Unretained<UDIAttachment>?
  /// The other bindings of the same instance.
  var previousOfInstance: Unretained<Binding>?
  var nextOfInstance: Unretained<Binding>?

  init(
    _ dependency: CapturedDependency, as type: Any.Type, key: KeyIdentity, site: CallSite, isMulti: Bool,
    binder: UDIAttachment?
  ) {
    self.key = key
    self.site = site
    self.isMulti = isMulti
    self.binder = binder.map { Unretained($0) }
    isExact = dependency.form.isComplete && ObjectIdentifier(type) == key.type.metatype
    super.init(dependency)
  }
}

// MARK: - Where an instance is bound

/// The bindings of one instance, wherever they are: a list through the bindings, found by the object's address.
///
/// An address is only a hint. When an object dies and another one takes its place in memory, dead bindings of the first are in the
/// list until somebody comes across them; they can do no harm there, because a dead binding is withdrawn whenever it is touched.
struct InstanceChain: CompactTableElement {
  let first: Unretained<Binding>
  var key: UInt { first.object.form.address }
  static func hash(_ key: UInt) -> UInt { scrambled(key) }

  /// The bindings at an address. Under the tree lock.
  static func bindings(at address: UInt, _ body: (Binding) -> Void) {
    var next = unsafe Tree.instances.find(address)?.element.first
    while let current = next {
      // Read first: `body` may withdraw the binding.
      next = current.object.nextOfInstance
      body(current.object)
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
      place.element = InstanceChain(first: me)
    } else {
      unsafe Tree.instances.insert(InstanceChain(first: me))
    }
    if let binder = binder { binder.object.didBind(self) }
  }

  /// Takes the binding out of those lists. Under the tree lock.
  func delist() {
    if let previous = previousOfInstance {
      previous.object.nextOfInstance = nextOfInstance
    } else if let next = nextOfInstance {
      if let place = unsafe Tree.instances.find(form.address) { place.element = InstanceChain(first: next) }
    } else {
      unsafe Tree.instances.remove(form.address)
    }
    nextOfInstance?.object.previousOfInstance = previousOfInstance
    previousOfInstance = nil
    nextOfInstance = nil
    if let binder = binder { binder.object.didUnbind(self) }
    binder = nil
  }
}
