/// The direction in which a lookup goes through the tree.
///
/// No search ever enters a sibling branch: what two branches share belongs in a context above both.
public enum UDISearch: String, Hashable, Sendable, CaseIterable, Codable {
  /// The context, then what is below it, as for ``descendants``. If nothing is there, then what the contexts above have
  /// themselves: the parent, its parent, and so on up to the root. `linkAll` takes both. This is the default.
  case lineage
  /// The context, then what is below it and not in a scope, breadth-first: its children in their order, then their
  /// children.
  case descendants
  /// The context alone.
  case local
  /// The context, its parent, and so on up to the root.
  case ancestors
}

extension UDISearch {
  /// Whether it searches below and above the context where it begins.
  @inline(__always)
  var looks: (below: Bool, above: Bool) {
    // A `switch` instead of raw values, because lookups use this, and the raw values are strings.
    switch self {
    case .lineage: (below: true, above: true)
    case .descendants: (below: true, above: false)
    case .local: (below: false, above: false)
    case .ancestors: (below: false, above: true)
    }
  }
}
