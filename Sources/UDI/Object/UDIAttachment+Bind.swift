import Synchronization

/// What the object binds.
extension UDIAttachment {
  /// Binds in `context` or, if that is nil, in the object's effective context at that moment.
  ///
  /// - Returns: Whether there was a context to bind in: the one that the object is attached to might be gone.
  func bind(_ request: borrowing BindRequest, in context: UDIContext?) -> Bool {
    let isOwn = request.form.address == owner.load(ordering: .relaxed)
    if !isOwn { request.tellAttachment() }
    let binding = Binding.make(request, binder: isOwn ? .instance : .other, maker: isOwn ? nil : self)
    let isMulti = request.isMulti
    return Tree.change { garbage in
      // This is read under the lock. So if another thread attaches the object elsewhere, it does so either before or
      // after the whole bind.
      let target: UDIContext
      switch context.map(State.attached) ?? state {
      case .attached(let context): target = context
      case .none: target = AppContext
      case .gone: return false
      }
      // `Tree.isLooking` would not be enough: the object might bind itself later, when the watcher's lookup is over.
      if isOwn, unsafe comesFromLook { binding.comesFromLook = true }
      target.withNode { $0.bind(binding, moving: !isMulti, &garbage) }
      garbage.add(target)
      return true
    }
  }

  /// Withdraws what the object bound under a key, in all contexts.
  func unbind(_ key: KeyIdentity) -> Bool {
    Tree.change { garbage in
      withdraw(where: { $0.key === key }, &garbage)
    }
  }

  /// Withdraws bindings that the object made. Called under the tree lock.
  @discardableResult
  func withdraw(where condition: (Binding) -> Bool, _ garbage: inout Garbage) -> Bool {
    var made: [Binding] = []
    InstanceChain.bindings(at: owner.load(ordering: .relaxed)) { binding in
      if binding.binder == .instance, condition(binding) { made.append(binding) }
    }
    unsafe helpers.forEach { if condition($0.object) { made.append($0.object) } }
    for binding in made { binding.withdraw(&garbage) }
    return !made.isEmpty
  }

  /// Records that a binding of another instance, made by this object, is now in the tree. Called under the tree lock.
  func didBind(_ helper: DetailedBinding) { unsafe helpers.insert(Unretained(helper)) }

  /// Records that a binding of another instance, made by this object, leaves the tree. Called under the tree lock.
  func didUnbind(_ helper: DetailedBinding) { unsafe helpers.remove(Unretained(helper)) }
}
