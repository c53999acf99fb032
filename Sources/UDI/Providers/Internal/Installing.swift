/// A module that is installed in a context, or is being installed.
///
/// `install` uses this to recognise a module that is installed already. A class instance is recognised by identity,
/// through a weak reference. A value whose type has no stored properties is recognised by its type. Any other value is
/// recognised only if it is `Sendable` and `Hashable`; it is then stored and compared. Values are compared, and objects
/// are released, only while no lock is held. Modules that are not `Sendable` are installed and compared only on the
/// main actor.
final class InstalledModule: @unchecked Sendable {
  // Unchecked: `creation` is guarded by the tree lock. `value` is held only if the module is `Sendable`.
  let type: ObjectIdentifier
  private weak let instance: AnyObject?
  let value: AnyHashable?
  /// Whether all modules of this type are equal, because the type has no stored properties.
  private let isAnyOfType: Bool
  /// The creation that other threads wait for while a thread installs the module.
  fileprivate var creation: SharedCreation?

  /// - Parameter isSendable: Whether the compiler knows that the module is `Sendable`. Only then may its value be kept,
  ///   and compared on any thread.
  /// - Returns: Nil if the module cannot be recognised later, so that it is installed each time.
  init?<Module: UDIModule>(_ module: Module, isSendable: Bool, _ creation: SharedCreation) {
    type = ObjectIdentifier(Swift.type(of: module))
    self.creation = creation
    // Classes are checked first, because a class can also be `Hashable`. To recognise a class instance, a weak
    // reference is enough; a value has to be held.
    if Swift.type(of: module as Any) is AnyClass {
      (instance, value, isAnyOfType) = (module as AnyObject, nil, false)
    } else if MemoryLayout<Module>.size == 0 {
      // This is checked before `Hashable`, because it holds for both forms of `install`, so both recognise what the
      // other one has installed. An enum with several cases has a size.
      (instance, value, isAnyOfType) = (nil, nil, true)
    } else if isSendable, let hashable = module as? any Hashable {
      (instance, value, isAnyOfType) = (nil, AnyHashable(hashable), false)
    } else {
      return nil
    }
  }

  /// Whether a module of the same type, which the caller holds, is the same as this one. Called under the tree lock, so
  /// this method does not compare values, whose `==` is user code.
  fileprivate func isSame(as new: InstalledModule, _ garbage: inout Garbage) -> Bool {
    guard let instance else { return isAnyOfType && new.isAnyOfType }
    garbage.add(instance)
    return instance === new.instance
  }

  /// Whether the module was a class instance that has been released, so that no other module can be the same. Call this
  /// under the tree lock.
  fileprivate func isGone(_ garbage: inout Garbage) -> Bool {
    guard value == nil, !isAnyOfType else { return false }
    guard let instance else { return true }
    garbage.add(instance)
    return false
  }
}

/// A thread that is installing a module or, during that, is running a set-up block.
struct Installation {
  let thread: Resolution
  /// The default lifetime that the context had when the thread's outermost `install` began.
  let standard: UDILifetime?
  /// The default lifetime that is now in force for the module.
  var lifetime: UDILifetime?
}

extension UDIContext {
  /// Calls the module's `register`, unless the same module is installed already.
  ///
  /// - Parameter isSendable: Whether the compiler knows the module to be `Sendable`.
  func install(_ module: any UDIModule, isSendable: Bool) {
    PerThread.prepare()
    let isClosed = change { node, garbage in
      let isEnding = node.treeLocked.state.isEnding
      if isEnding {
        node.reportClosed("install", describeType(type(of: module)), CallSite("", 0), &garbage)
      }
      return isEnding
    }
    if isClosed { return }
    let thread = PerThread.resolution.object
    let creation = SharedCreation(maker: Unretained(thread))
    let installed = InstalledModule(module, isSendable: isSendable, creation)
    if let installed, !begin(installed, thread) { return }
    change { node, _ in node.beginInstalling(thread) }
    module.register(in: self)
    change { node, garbage in
      node.endInstalling(thread, &garbage)
      guard let installed else { return }
      installed.creation = nil
      creation.end(.undecided)
    }
  }

  /// Records that this thread installs a module. If another thread is installing the same module, waits until the other
  /// thread has finished.
  ///
  /// - Returns: False if the same module is installed already, or if this thread is already installing it.
  private func begin(_ new: InstalledModule, _ thread: Resolution) -> Bool {
    var compared: [InstalledModule] = []
    while true {
      // Looks for the same module and, if it is not there, for modules whose values must be compared with the new
      // one's. If there is neither, records the new module.
      let (same, values) = change { node, garbage -> (InstalledModule?, [InstalledModule]) in
        let extras = node.treeLocked.ensureExtras()
        let others = extras.modules.filter { $0.type == new.type }
        if let same = others.first(where: { $0.isSame(as: new, &garbage) }) { return (same, []) }
        // Comparing values calls the user's `==`, so it must not happen under the lock.
        let values = others.filter { other in
          new.value != nil && other.value != nil && !compared.contains { $0 === other }
        }
        guard values.isEmpty else { return (nil, values) }
        for gone in others where gone.isGone(&garbage) {
          garbage.add(gone)
          extras.modules.removeAll { $0 === gone }
        }
        extras.modules.append(new)
        return (nil, [])
      }
      if let same = same ?? values.first(where: { $0.value == new.value }) {
        wait(for: same, thread)
        return false
      }
      if values.isEmpty { return true }
      compared += values
    }
  }

  /// Waits until another thread has installed a module, unless this thread would wait for ever.
  private func wait(for module: InstalledModule, _ thread: Resolution) {
    let waiting = Tree.change { _ -> (gate: Gate, creation: SharedCreation)? in
      guard let creation = module.creation, let gate = try? creation.prepareToWait(Unretained(thread)) else {
        return nil
      }
      return (gate, creation)
    }
    guard let waiting else { return }
    waiting.gate.wait()
    _ = waiting.creation.takeOutcome(Unretained(thread))
  }
}

// MARK: - Under the tree lock

extension Node {
  /// Records that a thread begins to install a module.
  fileprivate func beginInstalling(_ thread: Resolution) {
    let extras = treeLocked.ensureExtras()
    let standard = extras.installation.map { extras.installations[$0].standard } ?? extras.defaultLifetime
    extras.installations.append(Installation(thread: thread, standard: standard, lifetime: standard))
  }

  /// Removes the record that `beginInstalling` has added.
  fileprivate func endInstalling(_ thread: Resolution, _ garbage: inout Garbage) {
    let extras = treeLocked.ensureExtras()
    guard let index = extras.installations.lastIndex(where: { $0.thread === thread }) else { return }
    let ended = extras.installations.remove(at: index)
    if let lifetime = ended.lifetime { garbage.add(lifetime.kind) }
    if let standard = ended.standard { garbage.add(standard.kind) }
  }
}
