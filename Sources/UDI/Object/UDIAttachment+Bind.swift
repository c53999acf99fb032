import Synchronization

/// Bindings that the object makes.
extension UDIAttachment {
  /// Binds in `context` or, if that is nil, in the object's effective context at that moment.
  ///
  /// - Returns: False if the context that the object is attached to is gone, so that nothing was bound.
  func bind(_ request: borrowing BindRequest, in context: UDIContext?) -> Bool {
    let isOwn = request.form.address == owner.load(ordering: .relaxed)
    if !isOwn { request.tellAttachment() }
    let binding = Binding.make(request, binder: isOwn ? .instance : .other, maker: isOwn ? nil : self)
    let isMulti = request.isMulti
    return Tree.change { garbage in
      // The context is read under the lock. So if another thread attaches the object elsewhere, this happens either
      // before or after the whole bind.
      let target: UDIContext
      switch context.map(State.attached) ?? state {
      case .attached(let context): target = context
      case .none: target = AppContext
      case .gone: return false
      }
      // Here, `Tree.isLooking` is not enough: an object that a look has attached might bind itself later, after the
      // look.
      if isOwn, unsafe comesFromLook { binding.comesFromLook = true }
      target.withNode { $0.bind(binding, moving: !isMulti, &garbage) }
      garbage.add(target)
      return true
    }
  }

  /// Withdraws the bindings that the object has made under a key, in all contexts.
  func unbind(_ key: KeyIdentity) -> Bool {
    Tree.change { garbage in
      withdraw(where: { $0.key === key }, &garbage)
    }
  }

  /// Withdraws those bindings that the object has made and that satisfy a condition. Called under the tree lock.
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

  /// Records a binding by which this object has bound another instance. Called under the tree lock.
  func didBind(_ helper: DetailedBinding) { unsafe helpers.insert(Unretained(helper)) }

  /// Forgets a binding by which this object has bound another instance, because it leaves the tree. Called under the
  /// tree lock.
  func didUnbind(_ helper: DetailedBinding) { unsafe helpers.remove(Unretained(helper)) }
}
