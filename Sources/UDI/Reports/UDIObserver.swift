import Synchronization

/// An observer that is notified when something is made, closed or missed, for example to write traces and metrics.
///
/// ```swift
/// UDIObserver.process = UDIObserver { event in
///   if case .missed(let miss) = event { logger.debug("nothing found: \(miss.typeName)") }
/// }
/// ```
///
/// Lookups that find an existing dependency are never observed, so observers add no cost to them.
///
/// The observer is called on the thread where the event happened, while no lock is held. For a new instance, it is
/// called after the factory has returned, and before the lookup that asked for the instance returns. For something that
/// is closed, it is called afterwards. For a miss, it is called before the lookup returns.
///
/// What an observer itself looks up, makes or misses on that thread is not observed. An observer that looks something
/// up can cause a cycle, as a factory can.
///
/// Events go to the task's observer if ``withObserver(_:operation:)`` has set one, and otherwise to ``process``.
public struct UDIObserver: Sendable {
  private let body: @Sendable (UDIEvent) -> Void

  /// Makes an observer.
  ///
  /// - Parameter observe: Called for each event.
  public init(_ observe: @escaping @Sendable (UDIEvent) -> Void) {
    body = observe
    Self.exists.store(true, ordering: .relaxed)
  }

  /// Passes an event on to this observer. Use this in an observer that builds on another one.
  ///
  /// - Parameter event: The event.
  public func forward(_ event: UDIEvent) { body(event) }

  /// The observer of all code that runs outside ``withObserver(_:operation:)``; nil if there is none.
  public static var process: UDIObserver? {
    get { scoped.process }
    set { scoped.process = newValue }
  }

  fileprivate static let scoped = Scoped<UDIObserver?>(nil)

  private static let exists = Atomic<Bool>(false)

  /// Whether an observer was ever made. If none was, there is no need to ask for one.
  @inline(__always)
  static var mayExist: Bool { exists.load(ordering: .relaxed) }

  /// How long it is since the first call. Code that keeps a `ContinuousClock.Instant` instead is larger and slower,
  /// because that type's size is not known when the library is compiled.
  static var time: Duration { start.duration(to: .now) }
  private static let start = ContinuousClock.now

  /// Notifies the observer of an event, unless the observer itself has caused it. Do not call this under a lock.
  ///
  /// - Parameter event: Makes the event.
  @inline(never)
  static func tell(_ event: () -> UDIEvent) {
    guard mayExist, let observer = scoped.current else { return }
    ThreadState.here.object.tell(.observer) { observer.body(event()) }
  }
}

/// Runs an operation with an observer.
///
/// The observer is notified when the operation, or a task that it starts, makes, closes or misses something.
///
/// - Parameters:
///   - observer: Receives the events while the operation runs.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
public func withObserver<Result, Failure: Error>(
  _ observer: UDIObserver, operation: () throws(Failure) -> Result
) throws(Failure) -> Result { try UDIObserver.scoped.with(observer, operation) }

/// Runs an asynchronous operation with an observer.
///
/// The observer is notified when the operation, or a task that it starts, makes, closes or misses something.
///
/// - Parameters:
///   - observer: Receives the events while the operation runs.
///   - operation: The operation to run; it stays on the caller's actor.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func withObserver<Result, Failure: Error>(
  _ observer: UDIObserver, operation: nonisolated(nonsending) () async throws(Failure) -> Result
) async throws(Failure) -> Result { try await UDIObserver.scoped.with(observer, operation) }
