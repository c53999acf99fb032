/// Overrides, for `UDITesting`: lookups in a context find a given value under a key, whatever else the context has.
///
/// Other dependencies can be bound, registered and made under the key in the meantime. They are kept as usual, and
/// lookups find them again when the override ends. If there are several overrides for a key, the one that began last is
/// in force. They may end in any order.
extension UDIContext {
  /// Begins an override, which lasts until the context is closed or `Node.end` is called.
  ///
  /// If the context is being closed or is closed already, this is reported, and nothing is overridden. In an inert
  /// context, nothing is overridden either.
  ///
  /// - Parameter isSendable: Whether the compiler knows the type to be `Sendable`.
  /// - Returns: The override, for `Node.end`.
  package func override<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, with value: Dependency, isSendable: Bool, fileID: StaticString,
    line: UInt
  ) -> Provider {
    let request = RegisterRequest(type, isSendable ? .anywhere : .mainActor, name, .unique, nil, nil, fileID, line)
    let provider = Factory(request, nil, FactoryFunction { _ -> Dependency? in value })
    provider.shown = InstanceEntry(Instance(value), provider, isWeak: false)
    change { node, garbage in node.begin(provider, &garbage) }
    return provider
  }
}

// MARK: - Called under the tree lock

extension Node {
  /// The override in force for the given key; nil if there is none.
  func override(_ key: UInt64) -> InstanceEntry? { treeLocked.extras?.making.overrides.last { $0.keyID == key }?.shown }

  fileprivate func begin(_ override: Provider, _ garbage: inout Garbage) {
    if treeLocked.state != .open { return refuse(override, "withOverride", &garbage) }
    override.shown?.node = self
    // In the order of registration, the override has the place of what it hides, if there is something.
    let hidden = bindingInTable(override.key) ?? provider(override.keyID)
    override.shown?.serial = hidden?.serial ?? treeLocked.nextSerial
    treeLocked.nextSerial &+= 1
    if AuditNotice.isEnteringNoted { unsafe AuditNotice.entered(override, self, &garbage) }
    treeLocked.ensureExtras().making.overrides.append(override)
    unsafe (Tree.hasClosers, Tree.hasOverrides) = (true, true)
    showOwn(override.key)
  }

  /// Ends an override, unless it has ended together with its context.
  package func end(_ override: Provider, _ garbage: inout Garbage) {
    guard let entry = override.shown, entry.node != nil else { return }
    entry.node = nil
    treeLocked.extras?.making.overrides.removeAll { $0 === override }
    showOwn(override.key)
    garbage.add(override)
  }

  func endOverrides(_ garbage: inout Garbage) {
    while let override = treeLocked.extras?.making.overrides.last { end(override, &garbage) }
  }

  /// Makes the slot for the given key refer to the override in force (see `setEntry`); if there is none, to the
  /// context's binding; or else to the provider or the entry for the instance that it keeps.
  private func showOwn(_ key: KeyIdentity) {
    setEntry(bindingInTable(key) ?? provider(key.id)?.current, forKey: key.id)
  }
}
