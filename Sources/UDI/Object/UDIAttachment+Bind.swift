import Synchronization

/// Bindings that the object makes.
extension UDIAttachment {
  /// Makes a binding in `context` or, if that is nil, in the object's effective context at that moment. Does nothing if
  /// the context that the object is attached to has gone since the caller checked, or refuses the binding.
  func bind(_ request: BindRequest, in context: UDIContext?) {
    let isOwn = request.form.address == owner.load(ordering: .relaxed)
    if !isOwn { request.tellAttachment() }
    let binding = Binding.make(request, binder: isOwn ? .instance : .other, attachment: isOwn ? nil : self)
    let isMulti = request.isMulti
    Tree.change { garbage in
      if let context, !mayBind(binding, in: context, &garbage) { return }
      if isOwn, AuditNotice.isOn, let object = binding.liveObject(&garbage) {
        AuditNotice.note(object, self, at: nil, &garbage)
      }
      // The context is read under the lock, so if another thread attaches the object elsewhere, it does so either
      // before or after the whole bind.
      let target: UDIContext
      switch context.map(State.attached) ?? state {
      case .attached(let context): target = context
      case .none: target = AppContext
      case .gone: return
      }
      // Here, `Tree.isLooking` is not enough: an object that a look has attached might bind itself later, after the
      // look.
      if isOwn, unsafe comesFromLook { binding.comesFromLook = true }
      if isOwn, UDIRecording.isOn { (binding as? DetailedBinding)?.attachSite = unsafe attachSite }
      target.withNode { node in
        if AuditNotice.isOn { node.remember(target) }
        node.bind(binding, moving: !isMulti, &garbage)
      }
      garbage.add(target)
      if isMulti { letEndWithOwnContext(binding, &garbage) }
    }
  }

  /// Whether the object may bind in a context that the caller has named. The result is false if the context that the
  /// object is attached to is gone, being closed or closed; the last two are reported. Called under the tree lock.
  private func mayBind(_ binding: Binding, in context: UDIContext, _ garbage: inout Garbage) -> Bool {
    switch state {
    case .none: return true
    case .gone: return false
    case .attached(let own):
      defer { garbage.add(own) }
      return own.withNode { node in
        guard node.treeLocked.state.isEnding else { return true }
        node.refuse(binding, "multiBind", &garbage)
        return false
      }
    }
  }

  /// Makes a binding of `multiBind` end with the context that the object is attached to. Called under the tree lock.
  private func letEndWithOwnContext(_ binding: Binding, _ garbage: inout Garbage) {
    // The context might have refused the binding.
    guard binding.node != nil, case .attached(let own) = state else { return }
    own.withNode { node in binding.end(with: node) }
    garbage.add(own)
  }

  /// The bindings that the object has made, of itself and of others. Called under the tree lock.
  var bindings: [Binding] {
    var made: [Binding] = []
    InstanceChain.bindings(at: owner.load(ordering: .relaxed)) { if $0.binder == .instance { made.append($0) } }
    return made + otherBindings
  }

  /// The bindings by which the object has bound other instances. Called under the tree lock.
  var otherBindings: [Binding] {
    var made: [Binding] = []
    unsafe bindingsOfOthers.forEach { made.append(unsafe unsafeDowncast($0.object, to: Binding.self)) }
    return made
  }
}
