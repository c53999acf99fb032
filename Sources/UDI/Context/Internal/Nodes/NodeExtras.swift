/// The properties that only a few contexts need. They are in a separate object, so that all other nodes stay small.
/// Guarded by the tree lock.
final class NodeExtras {
  /// The lifetime of dependencies that are registered without one, outside modules.
  var defaultLifetime: UDILifetime?
  /// The kind of a scope, if it is not the tag.
  var scopeKind: String?
  /// The modules that are installed.
  var modules: [InstalledModule] = []
  /// The part of a run of `close()` that ends this context, until it has ended.
  var closing: Closing?
  /// What closed contexts had that were above this one. Lookups from here do not look for that further up.
  var past: ClosedPast?
  /// Whether closing the context has called a closer, here or below.
  var hasCalledCloser = false
  /// Of the closed contexts whose lookups go on upwards here, the one that was added last. From there,
  /// `previousSibling` leads to the others.
  var lastClosed: Node?
  /// If this is a scope that was begun too late, the path of the context that was closed or being closed.
  var closedPath: [String]?
  /// The activities for which closing the context waits, apart from the creations that providers refer to: operations
  /// of `whileAvailable`, and creations to which the provider no longer refers, because it was reset, replaced or
  /// removed, or because an asynchronous factory has ended and only the completion or the closer still runs.
  var activities: [Activity] = []
  /// What calls of `untilClosed` wait for until the closing begins, which they then wait for; nil if there was none.
  var end: Operation?
  /// The context's rules.
  var rules: [Rule] = []
  /// By their keys' ids, the watchers whose lookups begin here, or begin further down and can climb to this node. The
  /// latter look into this node alone: it does not notify them of changes below it. Accesses cannot overlap under the
  /// tree lock, and are not checked, because a need is entered often.
  @safe @exclusivity(unchecked) var watchers = ObjectTable<Watchers>()
  /// Whether there may be records of bindings that were removed from this context (`RemovedBinding`).
  var hasRemovedBindings = false
  /// Bindings in other contexts, made with `multiBind` by objects that are attached to this one. They end with this
  /// context.
  var bindingsElsewhere = ObjectSet()
  /// The overrides, with which tests replace what the context has: providers that show the value. If a key has several,
  /// the one that was added last is in force.
  var overrides: [Provider] = []
}
