/// Why `require` found nothing, or why what it found could not be made.
///
/// Its description is the explanation's: the cause on the first line, then what to do, then what each context had.
public struct UDILinkError: Error, Sendable, Hashable {
  /// What was asked for, where it was looked for, and what was the matter.
  public let explanation: UDIExplanation

  /// What was the matter.
  public var cause: UDIExplanation.Cause { explanation.cause }
}

extension UDILinkError: CustomStringConvertible {
  /// What was the matter, what to do, and what each context had.
  public var description: String { explanation.description }
}
