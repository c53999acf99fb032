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
  ///   - logger: Logs each step.
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
    var failure: (any Error)?
    do {
      try await cancelWhenGracefulShutdown {
        try await root.warmUp()
        try Task.checkCancellation()
        logger.info("Warmed up")
        front.provide(ServiceGroup(services: [server], logger: logger)).running(serve)
        try await root.untilClosed()
      }
    } catch is CancellationError where Task.isShuttingDownGracefully {
      logger.info("Stopping")
    } catch { failure = error }
    for context in [front, root] {
      do { try await context.close(within: limit) } catch {
        logger.error("Not everything was closed", error: error)
        failure = failure ?? error
      }
    }
    logger.info("Closed")
    if let failure { throw failure }
  }

  /// Runs the server until the task is cancelled, and then until the server has answered what it has begun.
  @Sendable private func serve(_ group: ServiceGroup) async throws {
    try await withTaskCancellationHandler {
      // A task of its own is not cancelled.
      try await Task { try await group.run() }.value
    } onCancel: {
      logger.info("Draining")
      Task { await group.triggerGracefulShutdown() }
    }
  }
}
