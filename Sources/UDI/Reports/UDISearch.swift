/// The direction in which a lookup goes through the tree.
///
/// No search ever enters a sibling branch. A dependency that two branches share belongs in a context above both.
public enum UDISearch: String, Hashable, Sendable, CaseIterable, Codable {
  /// First the context and the contexts below it, as for ``descendants``. If nothing is found there, then the parent
  /// alone, its parent alone, and so on up to the root. `linkAll` returns the dependencies of both parts. This is the
  /// default.
  case lineage
  /// The context, then everything below it except scopes and what is below them, breadth-first: its children in their
  /// order, then their children, and so on.
  case descendants
  /// The context alone.
  case local
  /// The context, its parent, and so on up to the root.
  case ancestors

  /// Whether the search considers the contexts below and above the one where it begins.
  @inline(__always)
  var looks: (below: Bool, above: Bool) {
    // Many lookups use this, and a `switch` is faster than a comparison of raw values, which are strings.
    switch self {
    case .lineage: (below: true, above: true)
    case .descendants: (below: true, above: false)
    case .local: (below: false, above: false)
    case .ancestors: (below: false, above: true)
    }
  }
}
