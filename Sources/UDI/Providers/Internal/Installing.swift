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

extension UDIContext {
  /// Calls the module's `register`, unless the module is installed already. If another thread is installing it, waits
  /// until that thread has finished, unless this thread would then wait for itself. If the context is being closed or
  /// is closed, reports this and does nothing else.
  ///
  /// - Parameter reach: Where the module may be used.
  func install(_ module: any UDIModule, _ reach: UDIReach) {
    Resolution.prepare()
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
    thread.object.installing(in: self) { module.register(in: self) }
    change { _, garbage in
      guard let creation = new.creation.take() else { return }
      creation.end(.undecided)
      garbage.add(creation)
    }
  }
}

// MARK: - The default lifetime

extension Resolution {
  /// A context in which the thread installs a module, and the default lifetime that the module has set there.
  typealias Installation = (node: Node, lifetime: UDILifetime?)

  /// Runs an installation. The module may set a default lifetime of its own, which ends with the installation.
  fileprivate func installing(in context: UDIContext, _ body: () -> Void) {
    installations.append((context.withNode { $0 }, nil))
    body()
    installations.removeLast()
  }
}

extension Node {
  /// The lifetime of dependencies that are registered without one; nil means `.unique`. A thread that is installing a
  /// module has a default of its own here. Used under the tree lock.
  var defaultLifetime: UDILifetime? {
    get {
      guard let extras = treeLocked.extras else { return nil }
      Resolution.prepare()
      let installation = Resolution.present?.read { $0.installations.last { $0.node == self } }
      return installation?.lifetime ?? extras.defaultLifetime
    }
    nonmutating set {
      let extras = treeLocked.ensureExtras()
      Resolution.prepare()
      let thread = Resolution.current.object
      if let index = thread.installations.lastIndex(where: { $0.node == self }) {
        thread.installations[index].lifetime = newValue
      } else {
        extras.defaultLifetime = newValue
      }
    }
  }
}
