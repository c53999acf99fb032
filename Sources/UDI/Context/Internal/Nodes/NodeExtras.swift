/// The properties that only a few contexts need. They are in a separate object, so that all other nodes stay small.
/// Guarded by the tree lock.
final class NodeExtras {
  private var ownDefaultLifetime: UDILifetime?
  /// The modules that are being installed. The last one of each thread is the innermost.
  var installations: [Installation] = []
  /// The modules that are installed.
  var modules: [InstalledModule] = []
  /// The run of `close()` that ends this context, until that run has ended.
  var closing: Closing?
  /// The last of the closed contexts whose lookups go on upwards here. The others follow as `previousSibling`.
  var lastClosed: Node?
  /// The creations that are under way although their provider has dropped them.
  var droppedCreations: [Creation] = []
  /// The context's rules.
  var rules: [Rule] = []
  /// The watchers whose lookups begin here.
  var watchers = Watchers()
  /// The watchers whose lookups begin further down and can climb to this node. Those lookups look into this node alone,
  /// not below it. So these watchers are kept apart: this node does not notify them of changes below it.
  var climbers = Watchers()
  /// For each key's id, the numbers of the records (`RemovedBinding`) of bindings that were removed from this context
  /// under the key, the oldest first. If a record has been dropped since, its number is no longer valid.
  var removedBindings: [UInt64: [Int]] = [:]
  /// Bindings in other contexts, made by objects that are attached to this one. They end with this context.
  var bindingsElsewhere = CompactTable<Unretained<DetailedBinding>>()
  /// The overrides, with which tests replace what the context has. If a key has several, the one that was added last is
  /// in force.
  var overrides: [Substitute] = []

  /// The lifetime of dependencies that are registered without one; nil means `.unique`. A thread that is installing a
  /// module has a separate default here, which ends with the installation.
  var defaultLifetime: UDILifetime? {
    get { installation.map { installations[$0].lifetime } ?? ownDefaultLifetime }
    set {
      if let index = installation { installations[index].lifetime = newValue } else { ownDefaultLifetime = newValue }
    }
  }

  /// The index, in `installations`, of what this thread began last.
  var installation: Int? {
    if installations.isEmpty { return nil }
    let thread = PerThread.resolution.object
    return installations.lastIndex { $0.thread === thread }
  }
}
