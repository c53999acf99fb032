/// A module that is installed in a context, or is being installed.
///
/// A module that is a class instance is recognised by its identity, and is held only weakly. Any other module is
/// recognised by its type.
final class InstalledModule: @unchecked Sendable {
  // Unchecked: `creation` is guarded by the tree lock.
  /// The module's type or, if the module is a class instance, the instance.
  fileprivate let id: ObjectIdentifier
  private weak let instance: AnyObject?
  private let isInstance: Bool
  /// Where the module may be used.
  private let reach: UDIReach
  /// The creation that other threads wait for while a thread installs the module.
  fileprivate var creation: Creation?

  init(_ module: any UDIModule, _ reach: UDIReach) {
    let type = type(of: module as Any)
    isInstance = type is AnyClass
    instance = isInstance ? module as AnyObject : nil
    id = isInstance ? ObjectIdentifier(module as AnyObject) : ObjectIdentifier(type)
    self.reach = reach
  }

  /// Whether the module was a class instance that has been released, so that another one can have its address. Called
  /// under the tree lock.
  fileprivate func isGone(_ garbage: inout Garbage) -> Bool {
    guard isInstance else { return false }
    guard let instance else { return true }
    garbage.add(instance, reach)
    return false
  }
}

/// A thread that is installing a module.
struct Installation {
  let thread: Resolution
  /// The default lifetime that the context had when the thread's outermost `install` began.
  let standard: UDILifetime?
  /// The default lifetime that is now in force for the module.
  var lifetime: UDILifetime?
}

extension UDIContext {
  /// Calls the module's `register`, unless the module is installed already. If another thread is installing it, waits
  /// until that thread has finished, unless this thread would wait for ever.
  ///
  /// - Parameter reach: Where the module may be used.
  func install(_ module: any UDIModule, _ reach: UDIReach) {
    PerThread.prepare()
    let thread = PerThread.resolution
    // A change of its own: it may drop modules, and what their `deinit` does must come before this thread waits.
    change { node, garbage in node.treeLocked.extras?.modules.removeAll { $0.isGone(&garbage) } }
    let new = InstalledModule(module, reach)
    var waiting: (creation: Creation, number: UInt)?
    let isNew = change { node, garbage in
      if node.treeLocked.state.isEnding {
        node.reportClosed("install", describeType(type(of: module)), UDICallSite("", 0), &garbage)
        return false
      }
      let extras = node.treeLocked.ensureExtras()
      if let present = extras.modules.first(where: { $0.id == new.id }) {
        if let creation = present.creation, let number = try? creation.enter(.thread(thread)) {
          waiting = (creation, number)
        }
        return false
      }
      new.creation = Creation.begin(nil, on: thread)
      extras.modules.append(new)
      node.beginInstalling(thread.object)
      return true
    }
    if let waiting { waiting.creation.block(waiting.number) }
    guard isNew else { return }
    module.register(in: self)
    change { node, garbage in
      node.endInstalling(thread.object, &garbage)
      guard let creation = new.creation.take() else { return }
      creation.end(.undecided)
      garbage.add(creation)
    }
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
