/// The errors that were thrown while a context was closed. Everything else has been closed nevertheless.
public struct UDICloseError: Error, Sendable {
  /// The failures, in the order in which they happened. There is at least one.
  public let failures: [UDIFailure]
}

extension UDICloseError: CustomStringConvertible {
  /// The number of failures, and one line for each.
  public var description: String {
    if failures.count == 1 { return "One dependency was not closed properly: " + failures[0].description }
    let title = spelled("\(failures.count) dependencies were not closed properly:")
    return ([title] + failures.map { "  " + $0.description }).joined(separator: "\n")
  }
}
