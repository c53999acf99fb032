import UDI

/// What a binding or a provider leads to: the bound object, if it is alive; the instances that a provider keeps
/// strongly; the provider itself and its closer, which hold closures of the user; and the user's storages.
typealias EntryContent = (
  entry: UDIEntry, reach: UDIReach, bound: AnyObject?, owned: [AnyObject], holders: [AnyObject],
  storages: [any UDIStorage]
)

extension Node {
  /// What the context's bindings and providers lead to. Aliases are left out: they hold only what their targets hold.
  /// The garbage keeps the bound objects alive. Called under the tree lock.
  func contents(_ garbage: inout Garbage) -> [EntryContent] {
    allEntries.filter { !($0 is InstanceEntry || $0 is Alias) }.map { source in
      let provider = source as? Provider
      let bound = provider == nil ? source.liveObject(&garbage) : nil
      let owned = provider?.allOwned ?? []
      let holders: [AnyObject?] = [provider, provider?.closer]
      return (
        source.described(&garbage), source.reach, bound, owned, holders.compactMap(\.self), provider?.storages ?? []
      )
    }
  }
}
