/// The way in which a context ends, as its `onClose` closures can see it.
///
/// A closure can use it to decide whether to commit or to roll back, or to distinguish a log-out from the end of the
/// program.
///
/// ```swift
/// scope.register(Transaction.self) {
///   try await Transaction.begin()
/// }.onClose { transaction in
///   if case .returned = UDIEnding.current { return }
///   await transaction.rollBack()
/// }
/// ```
@nonexhaustive
public enum UDIEnding: Sendable {
  /// `close()` was called, with a reason or without one.
  case closed(because: (any Sendable)? = nil)
  /// The operation of `withScope` has returned.
  case returned
  /// The operation of `withScope`, or the set-up of `makeScope`, has thrown an error.
  case failed(any Error)
  /// The operation of `withScope`, or the set-up of `makeScope`, has thrown an error in a task that was cancelled.
  case cancelled

  /// The way in which the context ends, inside an `onClose` closure and the code that it calls; nil anywhere else.
  ///
  /// If several calls close a context, the first one counts.
  public static var current: UDIEnding? {
    AsyncCall.present.flatMap { call in Tree.change { _ in (call.activity as? ClosingPart)?.run.ending } }
  }

  static func of(_ error: any Error) -> UDIEnding { Task.isCancelled ? .cancelled : .failed(error) }
}

/// The failure of an operation or a closer that has thrown no error of its own.
@nonexhaustive
public enum UDIUntimelyEnd: Error, Sendable, CustomStringConvertible {
  /// The operation has ended before its context was closed.
  case tooEarly
  /// It had not ended when the limit of `close(because:within:clock:)` was over, and the closing no longer waits for
  /// it. If it is an operation, an `onClose` closure or a factory, it was cancelled.
  case notInTime
  /// Other code had closed the scope before the operation of `withScope` returned. The scope's `onClose` closures have
  /// therefore not seen ``UDIEnding/returned``.
  case scopeClosed

  /// A description of the failure, and of what to do about it.
  public var description: String {
    switch self {
    case .tooEarly: "it has ended before its context was closed; if it may, pass `mayEnd: true` to `running`"
    case .notInTime: "it did not end in time, and is no longer waited for"
    case .scopeClosed: "its scope was closed before it returned, so the `onClose` closures ran without its result"
    }
  }
}
