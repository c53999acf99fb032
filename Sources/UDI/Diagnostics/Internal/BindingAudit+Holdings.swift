/// The objects that contexts hold. They are needed to find out what keeps a leaked object alive.
extension UDIContext {
  /// An object that a context holds.
  package struct Holding {
    /// A child context, an instance that a provider keeps, or an object of the library that holds closures of the user.
    package let object: AnyObject
    fileprivate var provider: Provider?

    /// A description of what holds the object; nil for a child context. Do not read this while holding a lock.
    package var text: String? {
      provider.map { "provider of \($0.key), registered at \($0.site.fileID):\($0.site.line)" }
    }
  }

  /// The children of this context, its providers, and the instances and closers that the providers keep. Do not read
  /// this while holding a lock.
  package var holdings: [Holding] {
    var holdings: [Holding] = change { node, _ in
      var holdings: [Holding] = []
      node.treeLocked.providers.forEach { entry in
        let provider = entry.provider
        provider.forEachOwned { holdings.append(Holding(object: $0, provider: provider)) }
        holdings.append(Holding(object: provider, provider: provider))
        if let closer = provider.closer { holdings.append(Holding(object: closer, provider: provider)) }
      }
      node.forEachChild { child in
        if let context = child.context { holdings.append(Holding(object: context)) }
      }
      return holdings
    }
    let storages = change { _, _ in
      holdings.compactMap { holding in holding.provider.map { ($0, holding.object === $0 ? $0.storages : []) } }
    }
    // A storage's `load` is user code, so it is called after the lock has been released.
    for (provider, storages) in storages {
      for case let kept? in storages.map({ $0.load() }) {
        holdings.append(Holding(object: kept.instance.object, provider: provider))
      }
    }
    return holdings
  }
}

extension UDIAttachment {
  /// The context that the object is attached to, if the object holds it strongly. Do not read this while holding a
  /// lock.
  package var attachedContext: UDIContext? { heldContext }
}
