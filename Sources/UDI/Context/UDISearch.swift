/// The direction a lookup takes through the tree.
///
/// No search ever enters a sibling branch: what two branches share belongs in a context above both.
public enum UDISearch: String, Hashable, Sendable, CaseIterable, Codable {
  /// The context, then what is below it, as ``descendants``; where nothing is there, what the contexts above have themselves: the parent,
  /// its parent, and so on up to the root. `linkAll` takes both. The default.
  case lineage
  /// The context, then what is below it and in no scope, breadth-first: its children in their order, then theirs.
  case descendants
  /// The context alone.
  case local
  /// The context, its parent, and so on up to the root.
  case ancestors
}

extension UDISearch {
  /// Whether it looks at what is below the context where it begins.
  @inline(__always)
  var looksBelow: Bool {
    // Not by raw values: those are strings, and lookups ask this.
    switch self {
    case .lineage, .descendants: true
    case .local, .ancestors: false
    }
  }

  /// Whether it looks at what is above the context where it begins.
  var looksAbove: Bool {
    switch self {
    case .lineage, .ancestors: true
    case .descendants, .local: false
    }
  }
}
