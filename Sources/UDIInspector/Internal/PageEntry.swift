import UDI

/// What a context has, as the page shows it: a binding, a removed binding, a provider or an override, or an object that
/// only looks things up.
struct PageEntry {
  /// The same names as in `UDIExplanation.Finding.Kind`, and one more.
  enum Kind: String {
    case live, dead, kept, provider, override, replaced, withdrawn
    /// An object that has looked something up, but is neither bound nor kept.
    case object
  }

  let kind: Kind
  let typeName: String
  var name: String?
  var className: String?
  /// The file and line of the registration.
  var site: String?
  var provider: UDISnapshot.Provider?
  /// The removed binding that the entry stands for; nil for all other entries.
  var removed: UDISnapshot.RemovedBinding?

  /// The entries of a context, in the order in which the page shows them.
  static func entries(of context: UDISnapshot.Context) -> [PageEntry] {
    var entries = context.overrides.map { override in
      PageEntry(
        kind: .override, typeName: override.typeName, name: override.name, className: override.className,
        site: "\(override.fileID):\(override.line)")
    }
    entries += context.bindings.map { binding in
      PageEntry(
        kind: binding.className == nil ? .dead : .live, typeName: binding.typeName, name: binding.name,
        className: binding.className, site: "\(binding.fileID):\(binding.line)")
    }
    entries += context.providers.map { provider in
      PageEntry(
        kind: provider.isMade ? .kept : .provider, typeName: provider.typeName, name: provider.name,
        className: provider.className, site: "\(provider.fileID):\(provider.line)", provider: provider)
    }
    entries += context.removedBindings.map { binding in
      PageEntry(
        kind: Kind(binding.reason), typeName: binding.typeName, name: binding.name, className: binding.className,
        site: "\(binding.fileID):\(binding.line)", removed: binding)
    }
    return entries
  }
}

extension PageEntry.Kind {
  fileprivate init(_ reason: UDISnapshot.RemovedBinding.Reason) {
    switch reason {
    case .dead: self = .dead
    case .replaced: self = .replaced
    case .withdrawn: self = .withdrawn
    }
  }
}

extension PageEntry {
  /// Makes the entry for an object that has looked something up, but is neither bound nor kept in the tree.
  init(_ dependent: UDISnapshot.Dependent) { self.init(kind: .object, typeName: dependent.typeName) }
}
