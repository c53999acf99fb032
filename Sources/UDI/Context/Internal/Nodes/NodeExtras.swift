/// The properties that only a few contexts need. They are in a separate object, so that all other nodes stay small.
/// Each layer above has a slot, whose type it defines. Guarded by the tree lock.
/// Accesses under it cannot overlap, so those that closing makes are not checked for that ("request-close" in
/// `Benchmarks/instructions`).
final class NodeExtras {
  /// The kind of a scope, if it is not the tag.
  var scopeKind: String?
  /// The past of the closed contexts that were above this one. Lookups from here do not look for its keys further up.
  @safe @exclusivity(unchecked) var past: ClosedPast?
  /// Of the closed contexts whose lookups go on upwards here, the one that was added last. From there,
  /// `previousSibling` leads to the others.
  @safe @exclusivity(unchecked) var lastClosed: Node?
  /// If this is a scope that was begun too late, the path of the context that was closed or being closed.
  var closedPath: [String]?
  /// Whether there may be records of bindings that were removed from this context.
  var hasRemovedBindings = false
  /// Bindings in other contexts, made with `multiBind` by objects that are attached to this one. They end with this
  /// context.
  @safe @exclusivity(unchecked) var bindingsElsewhere = ObjectSet()

  // MARK: - The slots of the layers above

  @safe @exclusivity(unchecked) var making = Node.noMakingExtras
  @safe @exclusivity(unchecked) var closing = Node.noClosingExtras
  /// By their keys' ids, those whose lookups begin here, or begin further down and can climb to this node. The latter
  /// look into this node alone: it does not notify them of changes below it. Accesses cannot overlap under the tree
  /// lock, and are not checked, because a need is entered often.
  @safe @exclusivity(unchecked) var followers = ObjectTable<Node.Lookouts>()
  var rules = Node.Rules()
}
