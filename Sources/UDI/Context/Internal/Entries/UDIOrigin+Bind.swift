/// Binding, from the typed verbs of contexts and objects to `Node.bind`.
extension UDIOrigin {
  /// Does the work of all forms of `bind` and `multiBind`. Only `Metadata.of` is compiled in clients, where the
  /// compiler knows whether there is metadata.
  ///
  /// - Parameter contexts: The contexts in which to bind; nil for this one, or for the object's effective context.
  @usableFromInline
  func bind<Dependency>(
    _ dependency: Dependency, _ type: Dependency.Type, _ reach: UDIReach, _ name: UDIName?,
    _ metadata: BindRequest.Metadata?, _ site: UDICallSite, isMulti: Bool = false, in contexts: [UDIContext]? = nil
  ) {
    checkStaticType(type, Dependency.self, at: "\(site.fileID):\(site.line): ")
    reach.assertIsolation(type)
    guard let form = StoredForm.of(dependency, as: type) else {
      // A precondition would have no message in release builds, and would name this line instead of the caller's.
      fatalError(
        """
        \(site.fileID):\(site.line): \(describeType(Swift.type(of: dependency as Any))) was bound as \
        \(describeType(type)), but it is a value type, and a context holds what is bound only weakly: it would be gone \
        at once. Bind a class instance. For a value, register a provider, which makes or keeps it.
        """)
    }
    defer { withExtendedLifetime(dependency) {} }
    let isOfObject = if case .object = self { true } else { false }
    let request = BindRequest(
      form: form, token: .inlined(type), name: name, site: site, metadata: metadata, isMulti: isMulti && isOfObject,
      reach: reach)
    switch self {
    case .context(let context):
      guard let contexts else { return context.bind(request, moving: !isMulti) }
      for context in contexts { context.bind(request, moving: !isMulti) }
    case .object(let attachment, let owner): attachment.bind(request, for: owner, in: contexts)
    }
  }

  func unbind(_ key: KeyIdentity) -> Bool {
    Tree.change { garbage in
      switch self {
      case .context(let context):
        guard let binding = context.withNode({ $0.bindingInTable(key) }) else { return false }
        binding.takeOut(&garbage)
        return true
      case .object(let attachment, _):
        let unwanted = attachment.bindings.filter { $0.key === key }
        for binding in unwanted { binding.withdraw(&garbage) }
        return !unwanted.isEmpty
      }
    }
  }
}

extension UDIContext {
  fileprivate func bind(_ request: BindRequest, moving: Bool) {
    request.tellAttachment()
    let binding = Binding.make(request, isByItself: false)
    change { node, garbage in node.bind(binding, in: self, moving: moving, &garbage) }
  }
}
