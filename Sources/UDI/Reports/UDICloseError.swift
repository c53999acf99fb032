/// The errors that were thrown while a context was closed. Everything else has nevertheless been closed.
public struct UDICloseError: Error, Sendable, CustomStringConvertible {
  /// The failures, in the order in which they happened. There is at least one.
  public let failures: [UDIFailure]

  /// The number of failures, and each error once, with all dependencies that could not be closed because of it.
  public var description: String { UDIFailure.describe(failures, "could not be closed properly") }

  /// Reports the failures. Call this if no caller waits to get them as an error.
  package func report() { for failure in failures { failure.reportWhileClosing() } }
}
