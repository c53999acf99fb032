/// Why ``UDIContext/require(_:named:search:)`` or ``UDIObject/require(_:named:search:fileID:line:)`` found nothing.
public struct UDILinkError: Error, Sendable {
  /// The type that was asked for, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The name that was asked for, if any.
  public let name: UDIName?
  /// The tags from the root to the context where the lookup began, the root's included.
  public let contextPath: [String]
  /// The direction it took.
  public let search: UDISearch
}

extension UDILinkError: CustomStringConvertible {
  /// What was looked for, where, and what to check.
  public var description: String {
    let place = "\"\(describePath(contextPath))\""
    let range =
      switch search {
      case .descendants: "in the context \(place) and below it"
      case .local: "in the context \(place) alone"
      case .ancestors: "in the context \(place) and above it"
      }
    return """
      No live \(describeKey(typeName, name)) is bound \(range). \
      Bind one there, and keep it alive elsewhere: a context holds what is bound in it only weakly.
      """
  }
}
