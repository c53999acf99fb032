/// What a context answers under a key, whatever else it has. For `UDITesting`.
///
/// What is bound, registered and made under the key in the meantime is kept as usual, and is found again when the
/// override ends. If there are several overrides, the one that began last counts; they may end in any order.
package final class Override: Sendable {
  private let context: UDIContext
  private let substitute: Substitute

  /// Makes the context answer with a value instead of what it has, until `end()` is called.
  ///
  /// - Parameter isSendable: Whether the compiler knows the type to be `Sendable`.
  package init<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, with value: Dependency, isSendable: Bool, in context: UDIContext,
    _ fileID: StaticString, _ line: UInt
  ) {
    self.context = context
    let provider = Factory(
      type, name, .unique, nil, CallSite(fileID, line), isSendable ? .anywhere : .mainActor, giving: value)
    substitute = Substitute(Instance(value), provider)
    context.change { node, _ in
      guard node.treeLocked.state == .open else { return }
      substitute.node = node
      substitute.serial = node.ownSerial(substitute.key)
      node.treeLocked.ensureExtras().overrides.append(substitute)
      unsafe Tree.overrideCount += 1
      node.showOwn(substitute.key)
    }
  }

  /// Ends the override.
  package func end() {
    context.change { node, garbage in
      guard substitute.node != nil else { return }
      defer { unsafe Tree.overrideCount -= 1 }
      substitute.node = nil
      node.treeLocked.ensureExtras().overrides.removeAll { $0 === substitute }
      node.showOwn(substitute.key)
      garbage.add(substitute)
    }
  }
}

/// What an override answers, as an entry.
final class Substitute: InstanceEntry, @unchecked Sendable {
  // Unchecked: it adds a constant.

  /// Held here, because an entry does not hold its provider.
  private let provider: Provider

  fileprivate init(_ instance: Instance, _ provider: Provider) {
    self.provider = provider
    super.init(instance, provider, isWeak: false)
  }

  override func makes(_ type: Any.Type) -> Bool { provider.makes(type) }
}

extension Node {
  /// The override that is in force for a key. Under the tree lock.
  func override(_ key: UInt64) -> Substitute? {
    hasOverrides ? treeLocked.extras?.overrides.last { $0.keyID == key } : nil
  }

  /// The serial number of what this node has under a key; a new one if there is nothing. Under the tree lock.
  fileprivate func ownSerial(_ key: KeyIdentity) -> UInt32 {
    if let present = heldBinding(key) ?? provider(key.id) { return present.serial }
    defer { treeLocked.nextSerial &+= 1 }
    return treeLocked.nextSerial
  }

  /// Makes the slot for a key show what this node has; a binding takes precedence over a provider. Under the tree lock.
  fileprivate func showOwn(_ key: KeyIdentity) {
    setEntry(heldBinding(key) ?? provider(key.id)?.current, forKey: key.id)
  }
}
