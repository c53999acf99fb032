/// The bindings of one instance in all contexts, as a linked list. The list is found by the instance's address.
///
/// When an object is released, another one can get the same address. In that case, the list may still contain dead
/// bindings of the first object. They do no harm, because any code that finds a dead binding withdraws it.
struct InstanceChain: CompactTableElement {
  /// The address of the instance. The binding contains it too, but if the table is large, the binding is usually not in
  /// the processor's cache.
  let key: UInt
  let first: Unretained<Binding>
  static func hash(_ key: UInt) -> UInt { scrambled(key) }

  /// Calls `body` with each binding of the instance at the given address. Called under the tree lock.
  static func bindings(at address: UInt, _ body: (Binding) -> Void) {
    var next = unsafe Tree.instances.find(address)?.element.first
    while let current = next {
      // The next binding is read before `body` is called, because `body` might withdraw the current one. (The current
      // one stays alive, because withdrawn bindings are in the garbage until the lock has been released.)
      next = current.read { $0.nextOfInstance }
      current.read(body)
    }
  }
}

extension Binding {
  /// Adds the binding to the list of its instance's bindings. If the verb of another object made the binding, adds it
  /// to that object's list, too. Called under the tree lock.
  ///
  /// - Returns: Whether the instance has other bindings.
  func enlist() -> Bool {
    let address = form.address
    let me = Unretained(self)
    let hasOthers: Bool
    if let found = unsafe Tree.instances.find(address) {
      hasOthers = true
      let second = found.element.first
      nextOfInstance = second
      second.object.previousOfInstance = me
      found.element = InstanceChain(key: address, first: me)
    } else {
      hasOthers = false
      unsafe Tree.instances.insert(InstanceChain(key: address, first: me))
    }
    if binder == .other, let detailed = self as? DetailedBinding {
      detailed.maker?.read { unsafe $0.helpers.insert(Unretained(detailed)) }
    }
    return hasOthers
  }
}

extension Binding {
  /// Removes the binding from all lists: from the list of its instance's bindings, from the list of the object whose
  /// verb made the binding, and from the list of the other context that the binding ends with. Called under the tree
  /// lock.
  func delist() {
    if let previous = previousOfInstance {
      previous.object.nextOfInstance = nextOfInstance
    } else if let next = nextOfInstance {
      unsafe Tree.instances.find(form.address)?.element = InstanceChain(key: form.address, first: next)
    } else {
      unsafe Tree.instances.remove(form.address)
    }
    nextOfInstance?.object.previousOfInstance = previousOfInstance
    (previousOfInstance, nextOfInstance) = (nil, nil)
    if binder == .other || isMulti, let detailed = self as? DetailedBinding {
      _ = detailed.maker?.read { unsafe $0.helpers.remove(Unretained(detailed)) }
      detailed.end(with: nil)
    }
  }
}
