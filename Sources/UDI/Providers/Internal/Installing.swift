/// A module that is installed in a context, or is being installed.
///
/// A module that is a class instance is recognised by its identity, and is held only weakly. Any other module is
/// recognised by its type.
final class InstalledModule: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.
  /// The module's type or, if the module is a class instance, the instance.
  fileprivate let id: ObjectIdentifier
  private weak let instance: AnyObject?
  private let isInstance: Bool
  /// Where the module may be used.
  private let reach: UDIReach
  /// The creation that other threads wait for while a thread installs the module.
  fileprivate var creation: Creation?
  /// The default lifetime that the module has set for itself. It ends with the installation.
  fileprivate var defaultLifetime: UDILifetime?

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

extension UDIContext {
  /// Calls the module's `register`, unless the module is installed already. If another thread is installing it, waits
  /// until that thread has finished, unless this thread would then wait for itself. If the context is being closed or
  /// is closed, reports this and does nothing else.
  ///
  /// - Parameter reach: Where the module may be used.
  func install(_ module: any UDIModule, _ reach: UDIReach) {
    let thread = Resolution.current
    // A change of its own: it may release modules, and what their `deinit` does must come before this thread waits.
    change { node, garbage in node.treeLocked.extras?.modules.removeAll { $0.isGone(&garbage) } }
    let new = InstalledModule(module, reach)
    var waiting: (creation: Creation, number: UInt64)?
    let isNew = change { node, garbage in
      if node.treeLocked.state.isEnding {
        node.reportClosed("install", of: describeType(type(of: module)), at: UDICallSite("", 0), &garbage)
        return false
      }
      let extras = node.treeLocked.ensureExtras()
      if let present = extras.modules.first(where: { $0.id == new.id }) {
        if let creation = present.creation, let number = try? creation.enter(.thread(thread)) {
          waiting = (creation, number)
        }
        return false
      }
      let creation = Creation(on: thread)
      creation.begin(nil)
      new.creation = creation
      extras.modules.append(new)
      return true
    }
    if let waiting { waiting.creation.block(waiting.number) }
    guard isNew else { return }
    module.register(in: self)
    change { _, garbage in
      guard let creation = new.creation.take() else { return }
      creation.end(.undecided)
      garbage.add(creation)
    }
  }
}

// MARK: - The default lifetime

extension Node {
  /// The lifetime of dependencies that are registered without one; nil means `.unique`. A thread that is installing a
  /// module has a default of its own here. Used under the tree lock.
  var defaultLifetime: UDILifetime? {
    get { installedHere?.defaultLifetime ?? treeLocked.extras?.defaultLifetime }
    nonmutating set {
      if let module = installedHere {
        module.defaultLifetime = newValue
      } else {
        treeLocked.ensureExtras().defaultLifetime = newValue
      }
    }
  }

  /// The module that this thread is installing, the innermost one.
  private var installedHere: InstalledModule? {
    guard let modules = treeLocked.extras?.modules, !modules.isEmpty else { return nil }
    return modules.last { $0.creation?.isOfThisThread == true }
  }
}
