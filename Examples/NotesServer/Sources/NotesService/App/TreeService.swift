import Logging
import ServiceLifecycle
import UDI

/// A tree of contexts, together with the server that uses it, as one service.
///
/// The server runs only while everything that the tree owns is there. All of it is made before the server starts, and
/// closed after the server has ended, even if the server fails or is cancelled. If something cannot be made, the server
/// does not start, and what has been made is closed.
public struct TreeService: Service {
  private let root: UDIContext
  private let logger: Logger
  private let server: @Sendable () async throws -> Void

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - root: The root of the tree. Nobody can use it after the service has ended.
  ///   - logger: Logs each step.
  ///   - server: Runs the server until it has answered its last request.
  public init(root: UDIContext, logger: Logger, server: @escaping @Sendable () async throws -> Void) {
    self.root = root
    self.logger = logger
    self.server = server
  }

  /// Makes everything, runs the server, and closes everything.
  ///
  /// - Throws: `UDIWarmUpError` if something cannot be made, what the server throws, or `UDICloseError` if something
  ///   cannot be closed.
  public func run() async throws {
    do {
      try await cancelWhenGracefulShutdown { try await root.warmUp() }
      logger.info("Warmed up")
      try await withGracefulShutdownHandler(operation: server) { logger.info("Draining") }
    } catch is CancellationError where Task.isShuttingDownGracefully {
      // The service was told to stop before the server started.
    } catch {
      // The first error is the one that is thrown.
      do { try await close() } catch { logger.error("Not everything was closed", error: error) }
      throw error
    }
    try await close()
  }

  private func close() async throws {
    try await root.close()
    logger.info("Closed")
  }
}
