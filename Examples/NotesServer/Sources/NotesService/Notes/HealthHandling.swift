import Hummingbird
import Logging

/// What `/health` does, given what it needs. The conforming type decides where that comes from.
public protocol HealthHandling {
  /// The work of the request being handled.
  var work: UnitOfWork { get }
  /// The logger of the request being handled.
  var logger: Logger { get }
}

extension HealthHandling {
  func report() async throws -> Response {
    do {
      try await work.read { store in try await store.check() }
    } catch let error where !(error is CancellationError) {
      logger.error("The store does not answer", error: error)
      throw APIError.unavailable("the store does not answer")
    }
    return try .json(["status": "ok"])
  }
}
