import Synchronization

/// The one path of all lookups: every verb, wrapper and search ends in `Node.answer`.

/// What is looked up, worked out once from the type and the name.
@usableFromInline
struct LookupRequest {
  let type: TypeIdentity
  /// Whether the caller's type is the one that bindings normally are captured as, so that their form fits.
  let isExact: Bool
  let name: UDIName?
  /// Nil for the search of the context that the lookup begins at.
  let search: UDISearch?

  @inline(__always)
  init(_ type: Any.Type, _ name: UDIName?, _ search: UDISearch?) {
    self.type = TypeIdentity.of(type)
    self.isExact = self.type.metatype == ObjectIdentifier(type)
    self.name = name
    self.search = search
  }
}

/// What a lookup brings back. It is made without the dependency's type, so that the work is compiled once; the verbs,
/// compiled in the caller's module, make a value of the type from it.
@usableFromInline
enum LookupAnswer {
  /// There is no live dependency.
  case nothing
  /// The value stands in the memory that the caller gave.
  case written
  /// The object is found, and a cast will make the value: the type has a form that is not recorded.
  case object(AnyObject)
  /// Found dead: to be looked up again, cleaning up, with no lock held.
  case dead
}

extension Node {
  /// Looks up a dependency.
  ///
  /// - Parameter memory: Uninitialised memory for a value of the requested type.
  @inline(__always)
  func answer(_ request: LookupRequest, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    if request.name != nil { return unsafe answerNamed(request, into: memory) }
    let answer = unsafe attempt(request.type.id, request, into: memory)
    guard case .dead = answer else { return answer }
    return unsafe answerCleaningUp(request.type.id, request, into: memory)
  }

  /// Looks up without changing anything, and without calling any code of the user's: may run under an attachment's lock.
  @inline(__always)
  func attempt(
    _ key: UInt64, _ request: LookupRequest, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    lock.lock()
    let search = request.search ?? search
    if search == .ancestors { return unsafe attemptUpwards(key, request, into: memory) }
    guard let slot = slots.find(key), search == .descendants || slot.element.depth == 0 else {
      lock.unlock()
      return .nothing
    }
    // The slot keeps the binding alive while the lock is held.
    let answer = slot.element.best.read { unsafe $0.value(for: request, into: memory) }
    lock.unlock()
    return answer
  }

  /// The same upwards, hand over hand: this node's lock is taken already, and each parent's is before its child's is given back,
  /// so that no node can go away or move in between.
  @inline(never)
  private func attemptUpwards(
    _ key: UInt64, _ request: LookupRequest, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    var node = Unretained(self)
    while true {
      if let slot = node.object.slots.find(key), slot.element.depth == 0 {
        let answer = slot.element.best.read { unsafe $0.value(for: request, into: memory) }
        node.object.lock.unlock()
        return answer
      }
      guard let parent = node.object.parent else {
        node.object.lock.unlock()
        return .nothing
      }
      parent.object.lock.lock()
      node.object.lock.unlock()
      node = parent
    }
  }

  /// Looks up under the tree lock and withdraws what is found dead, until something is alive or nothing is left.
  @inline(never)
  private func answerCleaningUp(
    _ key: UInt64, _ request: LookupRequest, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    Tree.change { garbage in
      let search = request.search ?? defaultSearch
      while let binding = nearestBinding(key, search) {
        let answer = unsafe binding.value(for: request, into: memory)
        guard case .dead = answer else { return answer }
        binding.withdraw(&garbage)
      }
      return .nothing
    }
  }

  /// Looks up a dependency with a name. The id of its key is a hash, so the names are compared: by the user's `==`,
  /// with no lock held.
  @inline(never)
  private func answerNamed(_ request: LookupRequest, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard let name = request.name else { return .nothing }
    var id = KeyIdentity.hashedID(request.type, name)
    // As long as this is retained no other name can be given its id.
    let candidate = KeyNames.haveCollided.load(ordering: .acquiring) ? nil : identity(id)
    if let candidate {
      guard candidate.type === request.type, candidate.name == name else { return .nothing }
    } else {
      // Here is no such key; there may be one above, or one whose id is not its hash.
      guard let known = KeyNames.id(request.type, name) else { return .nothing }
      id = known
    }
    let answer = unsafe attempt(id, request, into: memory)
    guard case .dead = answer else { return answer }
    return unsafe answerCleaningUp(id, request, into: memory)
  }

  /// The key behind an id, if the node has a slot for it.
  private func identity(_ key: UInt64) -> KeyIdentity? {
    lock.withLock { slots.find(key)?.element.best.read { $0.key } }
  }
}

extension Binding {
  /// The bound object as the requested type, or `.dead`.
  @inline(__always)
  fileprivate func value(for request: LookupRequest, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard let object else { return .dead }
    guard isExact, request.isExact else { return .object(object) }
    unsafe form.write(object, to: memory)
    return .written
  }
}
