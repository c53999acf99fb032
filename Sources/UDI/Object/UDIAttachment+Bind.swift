import Synchronization

/// Bindings that the object makes.
extension UDIAttachment {
  /// Makes bindings in the given contexts or, if that is nil, one in the object's effective context.
  func bind(_ request: BindRequest, for owner: AnyObject, in contexts: [UDIContext]?) {
    remember(owner: owner)
    if contexts == nil || state.isGone {
      let (verb, token, name) = (request.isMulti ? "multiBind" : "bind", request.token, request.name)
      if effectiveContext(verb, owner, token.key(named: name).description, at: request.site) == nil { return }
    }
    guard let contexts else { return bind(request, in: nil) }
    for context in contexts { bind(request, in: context) }
  }

  /// Makes a binding in `context` or, if that is nil, in the object's effective context at that moment. Does nothing if
  /// the context that the object is attached to has gone since the caller checked, or refuses the binding.
  func bind(_ request: BindRequest, in context: UDIContext?) {
    let isByItself = request.form.address == owner.load(ordering: .relaxed)
    if !isByItself { request.tellAttachment() }
    let binding = Binding.make(request, isByItself: isByItself, attachment: isByItself ? nil : self)
    Tree.change { garbage in
      // The state is read under the lock, so if another thread attaches the object elsewhere, it does so either before
      // or after the whole bind.
      let (own, isGone) = state
      if isGone { return }
      let target = context ?? own ?? AppContext
      garbage.add(own ?? target)
      let ownNode = own?.withNode { $0 }
      if context != nil, let ownNode, ownNode.treeLocked.state.isEnding {
        return ownNode.refuse(binding, "multiBind", &garbage)
      }
      if isByItself, AuditNotice.isOn, let own, let object = binding.liveObject(&garbage) {
        AuditNotice.note(object, isNew: false, in: own, attachment: self, &garbage)
      }
      // Here, `Tree.isLooking` is not enough: an object that a look has attached might bind itself later, after the
      // look.
      if isByItself, unsafe comesFromLook { binding.comesFromLook = true }
      if isByItself, isRecording { binding.detailed?.attachSite = unsafe attachSite }
      target.withNode { $0.bind(binding, in: target, moving: !request.isMulti, &garbage) }
      // The context might have refused the binding.
      if request.isMulti, binding.node != nil { binding.detailed?.end(with: ownNode) }
    }
  }

  /// The bindings that the object has made, of itself and of others. Called under the tree lock.
  var bindings: [Binding] {
    var made: [Binding] = []
    InstanceChain.bindings(at: owner.load(ordering: .relaxed)) { if $0.isByItself { made.append($0) } }
    return made + otherBindings
  }

  /// The bindings by which the object has bound other instances. Called under the tree lock.
  var otherBindings: [Binding] { unsafe bindingsOfOthers.map { unsafe unsafeDowncast($0.object, to: Binding.self) } }
}
