/// What only a few contexts have. It is behind a reference, so that all other nodes are small. Guarded by the tree
/// lock.
final class NodeExtras {
  private var ownDefaultLifetime: UDILifetime?
  /// The modules that are being installed. Among the modules of one thread, the innermost is the last.
  var installations: [Installation] = []
  /// The modules that are installed.
  var modules: [InstalledModule] = []
  /// The context's set-up blocks, until they have run.
  var setUp: SetUp?
  /// The run of `close()` that was begun at this context.
  var closing: Closing?
  /// The context's rules.
  var rules: [Rule] = []
  /// The watchers whose lookups begin here.
  var watchers = Watchers()
  /// The watchers whose lookups begin further down and can climb to here. They are kept apart because changes below
  /// this node do not concern them.
  var climbers = Watchers()
  /// For the id of each key, the numbers of the records (`RemovedBinding`) of the bindings that were here under the
  /// key, the oldest first. A record might have been dropped since; then its number leads to nothing.
  var removedBindings: [UInt64: [Int]] = [:]
  /// The overrides: what tests have put in the place of what the context has. If a key has several, the one that was
  /// added last is in force.
  var overrides: [Substitute] = []

  /// The lifetime of what is registered without one; nil means `.unique`. While a thread installs a module, that thread
  /// has a separate default here, which ends with the installation.
  var defaultLifetime: UDILifetime? {
    get { installation.map { installations[$0].lifetime } ?? ownDefaultLifetime }
    set {
      if let index = installation { installations[index].lifetime = newValue } else { ownDefaultLifetime = newValue }
    }
  }

  /// The index of the module that this thread is installing.
  private var installation: Int? {
    if installations.isEmpty { return nil }
    let thread = PerThread.resolution.object
    return installations.lastIndex { $0.thread === thread }
  }
}
