/// The direction a lookup takes through the tree.
///
/// No search ever enters a sibling branch: what two branches share belongs in a context above both.
public enum UDISearch: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// The context, then everything below it breadth-first: its children in their order, then theirs. The default.
  case descendants
  /// The context alone.
  case local
  /// The context, its parent, and so on up to the root.
  case ancestors
}
