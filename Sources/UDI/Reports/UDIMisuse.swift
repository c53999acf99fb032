/// A probable mistake in the use of the library, after which the library can continue.
public struct UDIMisuse: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of misuse.
  @nonexhaustive
  public enum Kind: Sendable, Hashable {
    /// An object used a verb while it was attached to no context, so the verb used ``AppContext``. This is reported
    /// only to reporters with `reportsUnattachedUse`.
    case unattached
    /// An object used a verb when the context that it was attached to was already gone. This happens only if that
    /// context owned the object, or was above the context that owned it.
    case contextGone
    /// A non-throwing lookup found a provider that could not supply an instance. The message says why. The file and the
    /// line are those of the registration. A factory that returns nil is not a misuse.
    case notMade
    /// A value was made under a lifetime that keeps instances weakly, which is impossible for values. The file and the
    /// line are those of the registration.
    case valueHeldWeakly
    /// An object could not be attached, because its conformance to ``UDIObject`` belongs to the main actor, but the
    /// object was made or provided off the main actor. The file and the line are those of the registration.
    case notAttached
    /// An object was attached, and a dependency that it requires is missing (see ``Required``). The file and the line
    /// are those of the call that attached the object, of the registration if a provider made it, or otherwise of the
    /// property.
    case needNotMet
    /// A registration has replaced one from another line in the same context, and does not say that it replaces (the
    /// parameter `replaces` of `register` and `provide`). Reported once for each pair of lines, while ``UDIRecording``
    /// is on, as it is in debug builds by default. Registrations that a set-up block has made may be replaced without a
    /// report. The file and the line are those of the new registration.
    case registeredTwice
    /// An attempt was made to register, bind or set up something in a context that is closed or is being closed. The
    /// attempt was ignored; `contextScope` and the synchronous `withScope` continue with a closed scope.
    case contextClosed
    /// An instance that was registered or provided with `onClose` or `running` was released without having been closed.
    /// This happens because of a reset, because its registration was replaced or taken back, or because its context is
    /// gone. The file and the line are those of the registration.
    case unclosed
    /// An `onClose` closure or an operation threw an error while its context was being closed, and there was no caller
    /// to which it could be thrown: see ``UDIContext/withScope(tag:kind:search:operation:)``. The file and the line are
    /// those of the registration.
    case closingFailed
    /// The operation of an instance (``UDIRegistration/running(mayEnd:fileID:line:_:)``) has thrown an error, or has
    /// ended too early, while no task awaited ``UDIContext/untilClosed()``. The file and the line are those of the
    /// registration.
    case operationFailed
    /// The process has more than one copy of the library, for example one in the program and one in a plug-in, so there
    /// is more than one ``AppContext``. Reported when the second one is first used, while ``UDIRecording`` is on. Link
    /// all of them with the product `UDIDynamic` in place of `UDI`.
    case secondCopy
  }

  /// The kind of misuse.
  public let kind: Kind
  /// A description of the misuse, and advice.
  public let message: String
  /// The file of the call, in the form of `#fileID`: the names of the module and the file. Empty if there is no call,
  /// and for `install`, `inject`, `withScope` and `contextScope`, which do not know where they are called.
  public let fileID: String
  /// The line of the call, counted from 1.
  public let line: Int

  /// The file, the line and the message, in the format of a compiler warning.
  public var description: String { fileID.isEmpty ? message : spelled("\(fileID):\(line): \(message)") }
}
