/// The errors that were thrown while a context was closed. Everything else has been closed nevertheless.
public struct UDICloseError: Error, Sendable {
  /// A call of an `onClose` closure that threw.
  public struct Failure: Sendable {
    /// The type that the dependency is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the dependency is registered under; nil if there is none.
    public let name: String?
    /// The tags of the contexts from the root to the one that owned the dependency, both included.
    public let fullPath: [String]
    /// The error that `onClose` threw.
    public let error: any Error
    /// The file of the call that registered the dependency, in the form of `#fileID`.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
  }

  /// The failures, in the order in which they happened. There is at least one.
  public let failures: [Failure]
}

extension UDICloseError.Failure: CustomStringConvertible {
  /// The dependency, the context and the error, in one line.
  public var description: String {
    "\(describeKey(typeName, name)) in \(quoted(fullPath)), registered at \(fileID):\(line): \(error)"
  }
}

extension UDICloseError: CustomStringConvertible {
  /// The number of failures, and one line for each.
  public var description: String {
    if failures.count == 1 { return "One dependency was not closed properly: \(failures[0])" }
    return (["\(failures.count) dependencies were not closed properly:"] + failures.map { "  \($0)" })
      .joined(separator: "\n")
  }
}
