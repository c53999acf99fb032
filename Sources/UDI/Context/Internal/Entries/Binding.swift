/// An entry for an instance that was bound. It holds the instance weakly.
class Binding: Entry, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock.

  /// Whether the bound object itself made the binding.
  final let isByItself: Bool
  /// Whether an object's `multiBind` made the binding. Such a binding is a `DetailedBinding`, and stays when that
  /// object is attached elsewhere.
  final let isMulti: Bool
  /// The next newer binding of the same instance.
  final var previousOfInstance: Unretained<Binding>?
  /// The next older binding of the same instance.
  final var nextOfInstance: Unretained<Binding>?

  override func withdraw(_ garbage: inout Garbage) { withdraw(ifAlive: nil, &garbage) }

  override final func answerToMake(
    _ wanted: WantedType, behindBindings: Bool, into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer {
    if !behindBindings || registered.isRefused(to: wanted.reach) { return unsafe answer(wanted, into: memory) }
    return liveObject(&garbage) == nil ? .dead : node?.source(keyID).map { .provided($0) } ?? .nothing
  }

  /// Removes the binding from its context, and records this if recording is on: see `Node.noteRemoval`, also for the
  /// parameters. See `delist` for the other ways in which a binding ends.
  final func withdraw(ifAlive kind: UDIEntry.Kind?, by end: UDICallSite? = nil, _ garbage: inout Garbage) {
    if isRecording { node?.noteRemoval(of: self, ifAlive: kind, by: end, &garbage) }
    takeOut(&garbage)
  }

  /// Removes the binding from its context, if it is in one, and records nothing (see `delist`). If the context has a
  /// provider for the key, the provider answers from now on, or the instance that it keeps.
  final func takeOut(_ garbage: inout Garbage) {
    guard let node = node else { return }
    self.node = nil
    if let entry = node.treeLocked.bindings.removeEntry(forKey: Unretained(key)) { garbage.add(entry) }
    delist()
    // A death is news even if a look has noticed it.
    let isDead = Tree.isFollowed && !comesFromLook && liveObject(&garbage) == nil
    node.setEntry(node.source(keyID)?.current, forKey: keyID, notifying: isDead ? .died : changeKind)
  }

  /// This binding, if it is a detailed one.
  var detailed: DetailedBinding? { nil }

  init(_ request: BindRequest, isByItself: Bool) {
    let token = request.token
    self.isByItself = isByItself
    isMulti = request.isMulti
    super.init(
      .binding, request.form, key: token.key(named: request.name), isExact: token.isExact, reach: request.reach,
      at: request.site)
  }

  /// Makes the binding that a request describes.
  ///
  /// - Parameters:
  ///   - isByItself: Whether the bound object itself makes the binding.
  ///   - attachment: The attachment of the other object whose verb makes the binding, if one does.
  static func make(_ request: BindRequest, isByItself: Bool, attachment: UDIAttachment? = nil) -> Binding {
    attachment == nil && request.metadata == nil && !request.isMulti && !isRecording
      ? Binding(request, isByItself: isByItself)
      : DetailedBinding(request, isByItself: isByItself, attachment: attachment)
  }

  // MARK: - The bindings of one instance

  /// Adds the binding to the list of its instance's bindings. If the verb of another object made the binding, adds it
  /// to that object's list, too. Called under the tree lock.
  ///
  /// - Returns: Whether the list has other bindings.
  final func enlist() -> Bool {
    detailed?.attachment?.read { unsafe $0.bindingsOfOthers.insert(Unretained(self)) }
    let chain = InstanceChain(key: form.address, first: Unretained(self))
    guard let found = unsafe Tree.instances.find(chain.key) else {
      unsafe Tree.instances.insert(chain)
      return false
    }
    nextOfInstance = found.element.first
    nextOfInstance?.object.previousOfInstance = chain.first
    found.element = chain
    return true
  }

  /// Removes the binding from all lists: from the list of its instance's bindings, from the list of the object whose
  /// verb made the binding, and from the list of the other context that the binding ends with. Called under the tree
  /// lock.
  ///
  /// All ways in which a binding ends lead here. `takeOut` removes the binding from its context; a context's `unbind`
  /// and `unregister` call it directly, because they record nothing. `withdraw` records the removal, and then calls
  /// `takeOut`. If another binding replaces this one, or the context ends, there is nothing to take out, so `Node.bind`
  /// and `Node.empty` call `delist` directly.
  final func delist() {
    if let previous = previousOfInstance {
      previous.object.nextOfInstance = nextOfInstance
    } else if let next = nextOfInstance {
      unsafe Tree.instances.find(form.address)?.element = InstanceChain(key: form.address, first: next)
    } else {
      unsafe Tree.instances.remove(form.address)
    }
    nextOfInstance?.object.previousOfInstance = previousOfInstance
    (previousOfInstance, nextOfInstance) = (nil, nil)
    guard let detailed else { return }
    _ = detailed.attachment?.read { unsafe $0.bindingsOfOthers.remove(Unretained(self)) }
    detailed.end(with: nil)
  }
}

/// A binding with properties that most bindings do not need. While recording is on, all new bindings are of this class.
final class DetailedBinding: Binding, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock.

  /// The attachment of the object whose verb made this binding; nil if the bound object bound itself, or if a context
  /// made the binding. When the object with this attachment is released, the binding is withdrawn, so the reference
  /// never dangles.
  let attachment: Unretained<UDIAttachment>?
  /// The class of the bound object, which explanations need after the object has been released. Nil if recording was
  /// off when the binding was made.
  let objectType: Any.Type?
  /// If the bound object bound itself, the call or the registration that had attached it. Nil if that is not known, or
  /// if recording was off.
  var attachSite: UDICallSite?
  private let details: BindRequest.Metadata?
  override var metadata: (any Sendable)? { details?.value }
  /// The node of the other context with which the binding ends: the one to which the object is attached whose
  /// `multiBind` made the binding. Nil if the object is attached to the context that the binding is in, or to none, and
  /// for bindings that `multiBind` did not make.
  private var endsWith: Node?
  override var detailed: DetailedBinding? { self }

  init(_ request: BindRequest, isByItself: Bool, attachment: UDIAttachment?) {
    self.attachment = attachment.map { Unretained($0) }
    objectType = isRecording ? request.form.borrowed.read { Swift.type(of: $0) } : nil
    details = request.metadata
    super.init(request, isByItself: isByItself)
  }

  // MARK: - Bindings that end with another context

  // Once its context has ended, an object must no longer be found, although it can still look up dependencies above.
  // The bindings in that context go with it. But `multiBind` also binds in other contexts, and those bindings have to
  // be withdrawn.

  /// Ties a binding of an object's `multiBind` to a second context: the binding ends as soon as either context ends. A
  /// later call replaces the second context. Called under the tree lock.
  ///
  /// - Parameter other: The node of the second context, which must not be ending; nil for none.
  func end(with other: Node?) {
    let other = other == node ? nil : other
    if other == endsWith { return }
    let me = Unretained<AnyObject>(self)
    endsWith?.treeLocked.extras?.bindingsElsewhere.remove(me)
    endsWith = other
    other?.treeLocked.ensureExtras().bindingsElsewhere.insert(me)
  }
}

// MARK: - The bindings of one instance

/// The bindings of one instance in all contexts, as a linked list. The list is found by the instance's address.
///
/// When an object is released, another one can get the same address. In that case, the list may still contain dead
/// bindings of the first object. They do no harm: a lookup that finds a dead binding withdraws it.
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
