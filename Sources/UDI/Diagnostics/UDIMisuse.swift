/// A use of the library that was probably not intended, but after which the library can go on.
public struct UDIMisuse: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of misuse.
  @nonexhaustive
  public enum Kind: Sendable, Hashable {
    /// An object used a verb while it was attached to nothing, so the verb used ``AppContext``. This is reported only
    /// if ``UDIReporter/reportsUnattachedUse`` is on.
    case unattached
    /// An object used a verb when its context was already gone. The object was attached to that context, and was owned
    /// by it.
    case contextGone
    /// A lookup with a verb that does not throw found a provider, but got no instance from it. The message says why.
    /// The file and the line are those of the registration. A factory that returns nil is no misuse.
    case notMade
    /// A value was made under a lifetime that keeps instances weakly, which is impossible for values. The file and the
    /// line are those of the registration.
    case valueHeldWeakly
    /// An object could not be attached, because its conformance to ``UDIObject`` belongs to the main actor, but the
    /// object was made or provided off the main actor. The file and the line are those of the registration.
    case notAttached
    /// Something was registered, bound or set up in a context that is closed or is being closed. It was ignored.
    case contextClosed
    /// An instance that was registered or provided with `onClose` was let go of without having been closed: because of
    /// a reset, because its registration was replaced or taken back, or because its context went away. The file and
    /// the line are those of the registration.
    case unclosed
    /// A closure that was given as `onClose` threw, and there was no caller to whom the error could be thrown: see
    /// ``UDIContext/withScope(tag:search:operation:)``. The file and the line are those of the registration.
    case closingFailed
  }

  /// What kind of misuse this is.
  public let kind: Kind
  /// What was wrong, and what to do about it.
  public let message: String
  /// The file of the call, as `#fileID` gives it: the names of the module and the file. Empty if the verb is not told
  /// where it is called: `setUp`, `install`, `inject` and `withScope`.
  public let fileID: String
  /// The line of the call, counted from 1.
  public let line: Int

  /// The file, the line and the message, in the form of a compiler's warning.
  public var description: String { fileID.isEmpty ? message : "\(fileID):\(line): \(message)" }
}
