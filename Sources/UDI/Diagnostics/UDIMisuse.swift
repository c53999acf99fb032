/// Something after which the library can go on, but that was probably not intended.
public struct UDIMisuse: Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  @nonexhaustive
  public enum Kind: Sendable, Hashable {
    /// An object used a verb while it was attached to nothing, so that ``AppContext`` served it. This is reported only
    /// if ``UDIReporter/reportsUnattachedUse`` is on.
    case unattached
    /// An object used a verb after its context was gone: the context that it was attached to, and that owned it.
    case contextGone
    /// A lookup with a verb that does not throw found a provider, but got no instance from it; the message says why.
    /// The place is that of the registration. It is not misuse if a factory returns nil.
    case notMade
    /// A value was made under a lifetime that keeps instances weakly, which is impossible for values. The place is that
    /// of the registration.
    case valueHeldWeakly
    /// An object whose conformance to ``UDIObject`` belongs to the main actor was made or provided off the main actor,
    /// and so could not be attached. The place is that of the registration.
    case notAttached
  }

  /// What happened.
  public let kind: Kind
  /// What was wrong and what to do, in words.
  public let message: String
  /// The file of the call, as `#fileID` gives it: module and name.
  public let fileID: String
  /// The line of the call, from 1.
  public let line: Int

  /// The place and the message, in the form of a compiler's warning.
  public var description: String { "\(fileID):\(line): \(message)" }
}
