/// Makes a context answer with a given value under a key, whatever else the context has. For `UDITesting`.
///
/// Other dependencies can be bound, registered and made under the key in the meantime. They are kept as usual, and
/// lookups find them again when the override ends. If there are several overrides for a key, the one that began last is
/// in force. They may end in any order.
package final class Override: Sendable {
  private let context: UDIContext
  private let substitute: Substitute

  /// Begins the override, which lasts until `end()` is called or the context is closed. If the context is being closed
  /// or is closed already, this is reported, and nothing is overridden. Nor is anything in an inert context.
  ///
  /// - Parameter isSendable: Whether the compiler knows the type to be `Sendable`.
  package init<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, with value: Dependency, isSendable: Bool, in context: UDIContext,
    fileID: StaticString, line: UInt
  ) {
    self.context = context
    let request = RegisterRequest(
      type, isSendable ? .anywhere : .mainActor, name, .unique, nil, true, nil, fileID, line)
    substitute = Substitute(Instance(value), Factory(request, giving: value))
    begin()
  }

  private func begin() {
    context.change { node, garbage in
      guard node.treeLocked.state == .open else { return node.refuse(substitute, "withOverride", &garbage) }
      substitute.node = node
      substitute.serial = node.ownSerial(substitute.key)
      node.treeLocked.ensureExtras().overrides.append(substitute)
      unsafe Tree.overrideCount += 1
      node.showOwn(substitute.key)
    }
  }

  /// Ends the override, unless it has ended together with its context.
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

/// The entry for an override's value.
final class Substitute: InstanceEntry, @unchecked Sendable {
  // Unchecked: this class adds a constant.

  /// Held strongly, because an entry itself does not hold its provider.
  private let provider: Provider

  fileprivate init(_ instance: Instance, _ provider: Provider) {
    self.provider = provider
    super.init(instance, provider, isWeak: false)
  }

  override var instanceType: Any.Type? { provider.madeType }
}

extension Node {
  /// The override in force for the given key; nil if there is none. Call this under the tree lock.
  func override(_ key: UInt64) -> Substitute? {
    hasOverrides ? treeLocked.extras?.overrides.last { $0.keyID == key } : nil
  }

  /// Ends all overrides of the context, because the context is ending. Call this under the tree lock.
  func endOverrides(in extras: NodeExtras, _ garbage: inout Garbage) {
    let ending = extras.overrides
    extras.overrides = []
    unsafe Tree.overrideCount -= ending.count
    for substitute in ending {
      substitute.node = nil
      garbage.add(substitute)
    }
  }

  /// The serial number of the context's binding or provider under the given key; a new number if it has neither. Call
  /// this under the tree lock.
  fileprivate func ownSerial(_ key: KeyIdentity) -> UInt32 {
    if let present = heldBinding(key) ?? provider(key.id) { return present.serial }
    defer { treeLocked.nextSerial &+= 1 }
    return treeLocked.nextSerial
  }

  /// Makes the slot for the given key refer to the override in force (see `setEntry`); if there is none, to the
  /// context's binding; or else to the provider or the entry for the instance that it keeps. Call this under the tree
  /// lock.
  fileprivate func showOwn(_ key: KeyIdentity) {
    setEntry(heldBinding(key) ?? provider(key.id)?.current, forKey: key.id)
  }
}
