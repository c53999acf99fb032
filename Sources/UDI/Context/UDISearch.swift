/// The direction a lookup takes through the tree.
///
/// No search ever enters a sibling branch: what two branches share belongs in a context above both.
public enum UDISearch: UInt8, Hashable, Sendable, CaseIterable {
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
  var looksBelow: Bool { rawValue <= UDISearch.descendants.rawValue }

  /// Whether it looks at what is above the context where it begins.
  var looksAbove: Bool { self == .lineage || self == .ancestors }
}

extension UDISearch: Codable {
  /// Reads the name of a case.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: `DecodingError` where the text is no case's name.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let search = Self.allCases.first(where: { "\($0)" == name }) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "there is no search named \(name)")
    }
    self = search
  }

  /// Writes the name of the case, for readers of what is stored.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(self)")
  }
}
