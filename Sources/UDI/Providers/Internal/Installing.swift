/// What makes a module the same as another one of its type.
///
/// No value is compared, and nothing is released, under a lock. A module that is not `Sendable` is never held. Of such
/// modules only class instances are compared, and only on the main actor: a module is compared only by a thread that
/// installs a module of the same type.
enum ModuleIdentity {
  /// All modules of the type are the same.
  case anyOfType
  case instance(AnyObject)
  case value(AnyHashable)

  /// - Parameter isSendable: Whether the module may be held, and be compared on any thread.
  /// - Returns: Nil if the module is different from all others.
  static func of<Module: UDIModule>(_ module: Module, isSendable: Bool) -> ModuleIdentity? {
    // Checked first, because a class may be `Hashable`, too: a weak reference is enough to recognise an instance,
    // whereas a value has to be held.
    if type(of: module as Any) is AnyClass { return .instance(module as AnyObject) }
    if isSendable, let value = module as? any Hashable { return .value(AnyHashable(value)) }
    return MemoryLayout<Module>.size == 0 ? .anyOfType : nil
  }
}

/// A module that is installed in a context, or is about to be.
final class InstalledModule: @unchecked Sendable {
  // Unchecked: `creation` is guarded by the tree lock. A value is held only if it is `Sendable`.
  let type: ObjectIdentifier
  private weak let instance: AnyObject?
  let value: AnyHashable?
  private let isAnyOfType: Bool
  /// What other threads wait for while one installs it.
  fileprivate var creation: SharedCreation?

  fileprivate init(_ type: Any.Type, _ identity: ModuleIdentity, _ creation: SharedCreation) {
    self.type = ObjectIdentifier(type)
    self.creation = creation
    switch identity {
    case .anyOfType: (instance, value, isAnyOfType) = (nil, nil, true)
    case .instance(let object): (instance, value, isAnyOfType) = (object, nil, false)
    case .value(let hashable): (instance, value, isAnyOfType) = (nil, hashable, false)
    }
  }

  /// Whether it is the same module as another one of its type. Under the tree lock, so it never compares values, whose
  /// `==` is user code.
  fileprivate func isSame(as identity: ModuleIdentity, _ garbage: inout Garbage) -> Bool {
    switch identity {
    case .anyOfType: return isAnyOfType
    case .instance(let object):
      guard let instance else { return false }
      garbage.add(instance)
      return instance === object
    case .value: return false
    }
  }

  /// Whether it was an instance that has died, so that no module can be the same. Under the tree lock.
  fileprivate func isGone(_ garbage: inout Garbage) -> Bool {
    guard value == nil, !isAnyOfType else { return false }
    guard let instance else { return true }
    garbage.add(instance)
    return false
  }
}

/// A module that a thread is installing in a context, and the default lifetime in force meanwhile.
struct Installation {
  let thread: Resolution
  /// The context's default lifetime when the outermost `install` began.
  let standard: DefaultLifetime?
  var lifetime: DefaultLifetime?
}

extension UDIContext {
  /// Has a module register what it offers, unless the same one is installed already.
  func install(_ module: any UDIModule, _ identity: ModuleIdentity?) {
    PerThread.prepare()
    let thread = PerThread.resolution.object
    var installed: InstalledModule?
    if let identity {
      installed = begin(type(of: module), identity, thread)
      if installed == nil { return }
    }
    change { node, _ in node.beginInstalling(thread) }
    module.register(in: self)
    change { node, garbage in
      node.endInstalling(thread, &garbage)
      guard let creation = installed?.creation else { return }
      installed?.creation = nil
      creation.end(.undecided)
      garbage.add(creation)
    }
  }

  /// Notes that this thread installs a module, or waits until another thread has installed the same one.
  ///
  /// - Returns: Nil if the same one is installed already, or if this thread is in the middle of installing it.
  private func begin(_ type: Any.Type, _ identity: ModuleIdentity, _ thread: Resolution) -> InstalledModule? {
    enum Step {
      case install(InstalledModule)
      case skip(InstalledModule)
      case compare([InstalledModule])
    }
    let new = InstalledModule(type, identity, SharedCreation(maker: Unretained(thread)))
    var compared: [InstalledModule] = []
    while true {
      let step = change { node, garbage -> Step in
        let extras = node.treeLocked.ensureExtras()
        let others = extras.modules.filter { $0.type == new.type }
        if let same = others.first(where: { $0.isSame(as: identity, &garbage) }) { return .skip(same) }
        // Values are compared by the user's `==`, so not under the lock.
        let values = others.filter { other in
          new.value != nil && other.value != nil && !compared.contains { $0 === other }
        }
        guard values.isEmpty else { return .compare(values) }
        for gone in others where gone.isGone(&garbage) {
          garbage.add(gone)
          extras.modules.removeAll { $0 === gone }
        }
        extras.modules.append(new)
        return .install(new)
      }
      switch step {
      case .install: return new
      case .skip(let same):
        wait(for: same, thread)
        return nil
      case .compare(let others):
        if let same = others.first(where: { $0.value == new.value }) {
          wait(for: same, thread)
          return nil
        }
        compared += others
      }
    }
  }

  /// Waits until another thread has installed a module. Does not wait if that would never end.
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
  /// Begins to install a module on a thread.
  fileprivate func beginInstalling(_ thread: Resolution) {
    let extras = treeLocked.ensureExtras()
    let standard: DefaultLifetime?
    if let outermost = extras.installations.first(where: { $0.thread === thread }) {
      standard = outermost.standard
    } else {
      standard = extras.defaultLifetime
    }
    extras.installations.append(Installation(thread: thread, standard: standard, lifetime: standard))
  }

  /// Ends what `beginInstalling` began.
  fileprivate func endInstalling(_ thread: Resolution, _ garbage: inout Garbage) {
    let extras = treeLocked.ensureExtras()
    guard let index = extras.installations.lastIndex(where: { $0.thread === thread }) else { return }
    let ended = extras.installations.remove(at: index)
    if let lifetime = ended.lifetime { garbage.add(lifetime) }
    if let standard = ended.standard { garbage.add(standard) }
  }
}
