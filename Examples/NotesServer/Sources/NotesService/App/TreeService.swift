import Logging
import ServiceLifecycle
import UDI

/// A tree of contexts, together with the server that uses it, as one service.
///
/// The server runs only while everything that the tree owns is there. All of it is made before the server starts, and
/// closed after the server has answered what it has begun, even if the server fails or is cancelled. If something cannot
/// be made, the server does not start, and what has been made is closed.
public struct TreeService: Service {
  private let root: UDIContext
  private let server: any Service
  private let logger: Logger
  private let limit: Duration

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - root: The root of the tree. Nobody can use it after the service has ended.
  ///   - server: The server. It runs in a context of its own, below the root.
  ///   - logger: Logs the steps, and the errors of closing.
  ///   - limit: How long the server may go on answering, and how long everything else may take to be closed.
  public init(root: UDIContext, server: any Service, logger: Logger, limit: Duration = .seconds(12)) {
    (self.root, self.server, self.logger, self.limit) = (root, server, logger, limit)
  }

  /// Makes everything, runs the server, and closes everything.
  ///
  /// - Throws: The first of these: `UDIWarmUpError` if something cannot be made, `UDIFailure` if the server fails, or
  ///   `UDICloseError` if something cannot be closed.
  public func run() async throws {
    // Closed before the root: the requests that have begun still need everything.
    let front = try root.makeChild(tag: "Server")
    var failures: [any Error] = []
    do {
      try await cancelWhenGracefulShutdown { try await root.warmUp() }
      front.provide(ServiceGroup(services: [server], logger: logger)).running(serve)
      try await cancelWhenGracefulShutdown { try await root.untilClosed() }
    } catch { failures += noted(error) }
    do { try await front.close(within: limit) } catch { failures += noted(error) }
    do { try await root.close(within: limit) } catch { failures += noted(error) }
    if let first = failures.first { throw first }
  }

  /// Logs what only the log will say. Returns the error, unless it only says that the service is to stop.
  private func noted(_ error: any Error) -> [any Error] {
    if error is UDICloseError { logger.error("Not everything was closed", error: error) }
    guard error is CancellationError, Task.isShuttingDownGracefully else { return [error] }
    logger.info("Stopping")
    return []
  }

  /// Runs the server until the task is cancelled, and then until the server has answered what it has begun.
  @Sendable private func serve(_ group: ServiceGroup) async throws {
    logger.info("Warmed up")
    try await withTaskCancellationHandler {
      // A task of its own is not cancelled.
      try await Task { try await group.run() }.value
    } onCancel: {
      logger.info("Draining")
      Task { await group.triggerGracefulShutdown() }
    }
  }
}
