/// A module that is installed in a context, or is being installed.
final class InstalledModule: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.
  fileprivate let moduleType: Any.Type
  /// The module, if it is a class instance.
  private weak let instance: AnyObject?
  private let isInstance: Bool
  /// The module, if it is a value that is `Hashable`.
  private let value: ActorOwned<AnyHashable>?
  private let hasProperties: Bool
  /// Where the module may be used.
  private let reach: UDIReach
  /// The creation that other threads wait for while a thread installs the module.
  fileprivate var creation: Creation?
  /// The default lifetime that the module has set for itself. It ends with the installation.
  fileprivate var defaultLifetime: UDILifetime?

  init(_ module: any UDIModule, _ reach: UDIReach) {
    func size<Module>(of: Module) -> Int { MemoryLayout<Module>.size }
    moduleType = type(of: module as Any)
    isInstance = moduleType is AnyClass
    instance = isInstance ? module as AnyObject : nil
    let comparable = isInstance ? nil : module as? any Hashable
    value = comparable.map { ActorOwned(AnyHashable($0), by: reach == .mainActor ? MainActor.shared : nil) }
    hasProperties = size(of: module) > 0
    self.reach = reach
  }

  /// Whether another module of the type is the same one. Call this on the modules' actor, and under no lock: it calls
  /// the user's `==`.
  fileprivate func isSame(as other: InstalledModule) -> Bool {
    if isInstance { return instance === other.instance }
    if let value, let other = other.value { return value.value == other.value }
    return !hasProperties
  }

  /// Whether no later module can be the same one. That is so for a class instance that has been released, even if
  /// another one gets its address. Called under the tree lock.
  fileprivate func isGone(_ garbage: inout Garbage) -> Bool {
    guard isInstance else { return hasProperties && value == nil && creation == nil }
    return garbage.held(instance, reach) == nil
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
    // This is a change of its own, because it may release modules, and their `deinit` must run before this thread
    // waits.
    change { node, garbage in node.treeLocked.extras?.making.modules.removeAll { $0.isGone(&garbage) } }
    let new = InstalledModule(module, reach)
    var others: [InstalledModule] = []
    while let present = begin(new, beside: others, on: thread), present !== new {
      others.append(present)
      guard present.isSame(as: new) else { continue }
      // A thread that is woken before the end, to look for a circle again (`Activity.circle`), goes on waiting.
      while case let (creation, number?)? = Tree.change({ _ in
        present.creation.map { ($0, try? $0.enter(.thread(thread))) }
      }) {
        creation.block(number)
      }
      return
    }
    guard Tree.change({ _ in new.creation != nil }) else { return }
    module.register(in: self)
    change { _, garbage in
      guard let creation = new.creation.take() else { return }
      creation.end(.success(nil))
      garbage.add(creation)
      if let lifetime = new.defaultLifetime.take() { garbage.add(lifetime.kind) }
    }
  }

  /// Notes that a thread begins to install a module.
  ///
  /// - Parameter others: Modules of the type that have turned out to be different.
  /// - Returns: A further module of the type, which may be the same; the new one, if there is none, so that the
  ///   installation has begun; nil if the context is closed or being closed.
  private func begin(
    _ new: InstalledModule, beside others: [InstalledModule], on thread: Unretained<Resolution>
  ) -> InstalledModule? {
    change { node, garbage in
      if node.treeLocked.state.isEnding {
        node.reportClosed("install", of: describeType(new.moduleType), at: UDICallSite("", 0), &garbage)
        return nil
      }
      let extras = node.treeLocked.ensureExtras()
      for module in extras.making.modules where module.moduleType == new.moduleType {
        if !others.contains(where: { $0 === module }) { return module }
      }
      let creation = Creation(on: thread)
      creation.begin(nil)
      new.creation = creation
      extras.making.modules.append(new)
      return new
    }
  }
}

// MARK: - The default lifetime

extension Node {
  /// The lifetime of dependencies that are registered without one; nil means `.context`. A thread that is installing a
  /// module has a default of its own here. Used under the tree lock.
  var defaultLifetime: UDILifetime? {
    get { installedHere?.defaultLifetime ?? treeLocked.extras?.making.defaultLifetime }
    nonmutating set {
      guard let module = installedHere else { return treeLocked.ensureExtras().making.defaultLifetime = newValue }
      module.defaultLifetime = newValue
    }
  }

  /// The module that this thread is installing, the innermost one.
  private var installedHere: InstalledModule? {
    treeLocked.extras?.making.modules.last { $0.creation?.isOfThisThread == true }
  }
}
