/// What contexts hold, for the search of what keeps a leaked object alive.
extension UDIContext {
  /// Something that a context holds.
  package struct Holding {
    /// A context below, an instance that a provider keeps, or something that has the user's closures.
    package let object: AnyObject
    /// The provider by which the context holds the object, with the line where it was registered; nil for a context
    /// below.
    package let provider: String?
    /// Whether the object has closures: the provider itself, or the context's set-up blocks.
    package let isProvider: Bool
  }

  /// The contexts below this one, what its providers keep, its providers, and its set-up blocks. Do not read this while
  /// holding a lock.
  package var holdings: [Holding] {
    var storages: [(storage: any UDIStorage, provider: String)] = []
    var holdings: [Holding] = change { node, _ in
      var holdings: [Holding] = []
      node.treeLocked.providers.forEach { entry in
        let provider = entry.provider
        let text = "provider of \(provider.key), registered at \(provider.site.fileID):\(provider.site.line)"
        if let owned = provider.shown?.owned {
          holdings.append(Holding(object: owned, provider: text, isProvider: false))
        }
        provider.forEachOwned { holdings.append(Holding(object: $0, provider: text, isProvider: false)) }
        holdings.append(Holding(object: provider, provider: text, isProvider: true))
        storages += provider.storages.map { ($0, text) }
      }
      if let setUp = node.treeLocked.extras?.setUp {
        holdings.append(Holding(object: setUp, provider: "set-up block", isProvider: true))
      }
      node.forEachChild { child in
        if let context = child.context {
          holdings.append(Holding(object: context, provider: nil, isProvider: false))
        }
      }
      return holdings
    }
    // A user's storage is user code, so this runs after the lock has been given back.
    for (storage, provider) in storages {
      guard let kept = storage.load() else { continue }
      holdings.append(Holding(object: kept.instance.object, provider: provider, isProvider: false))
    }
    return holdings
  }
}

extension UDIAttachment {
  /// The context that the object is attached to and therefore holds. Do not read this while holding a lock.
  package var attachedContext: UDIContext? { heldContext }
}
