/// Something that the library can go on after but that is hardly what was meant.
public struct UDIMisuse: Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  @nonexhaustive
  public enum Kind: Sendable, Hashable {
    /// An object used a verb while it was attached to nothing, so that ``AppContext`` answered. Only reported where
    /// ``UDIReporter/reportsUnattachedUse`` is on.
    case unattached
    /// An object used a verb after the context was gone that it is attached to and that owned it.
    case contextGone
    /// A lookup that throws nothing found a provider, but got no instance from it: the message says why. The place is that of the
    /// registration. A factory that returns nil is no misuse.
    case notMade
    /// A value was made under a lifetime that keeps instances weakly, which no value can be. The place is that of the registration.
    case valueHeldWeakly
    /// An object whose conformance to ``UDIObject`` belongs to the main actor was made by a factory elsewhere, or provided there, and so could
    /// not be attached. The place is that of the registration.
    case notAttached
  }

  /// What happened.
  public let kind: Kind
  /// What was wrong and what to do, for a reader.
  public let message: String
  /// The file of the call, as `#fileID` gives it: module and name.
  public let fileID: String
  /// The line of the call, from 1.
  public let line: Int

  /// The place and the message, in the form of a compiler's warning.
  public var description: String { "\(fileID):\(line): \(message)" }
}
