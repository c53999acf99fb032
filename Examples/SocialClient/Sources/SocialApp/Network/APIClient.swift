import Synchronization

/// Says how often a request is tried.
struct RetryPolicy: Sendable {
  let configuration: AppConfiguration
  func retries(_ error: any Error, attempt: Int) -> Bool {
    error as? RequestError == .offline && attempt < configuration.attempts
  }
}

/// Knows whether the server could be reached last time.
final class Reachability: Sendable {
  private let reached = Atomic(true)
  var isOnline: Bool { reached.load(ordering: .relaxed) }
  func note(isOnline: Bool) { reached.store(isOnline, ordering: .relaxed) }
}

/// Sends requests, repeats those that fail because the network is down, and keeps books.
struct APIClient: Sendable {
  let transport: any Transport
  let policy: RetryPolicy
  let reachability: Reachability
  let metrics: Metrics
  let log: Log

  func send(_ request: Request, token: Token? = nil) async throws -> Reply {
    var attempt = 1
    while true {
      metrics.increment("requests")
      do {
        let reply = try await transport.send(request, token: token)
        reachability.note(isOnline: true)
        return reply
      } catch {
        if error as? RequestError == .offline { reachability.note(isOnline: false) }
        log.write("a request failed: \(error)")
        guard policy.retries(error, attempt: attempt) else { throw error }
        attempt += 1
      }
    }
  }
}

/// Sends requests on behalf of one account.
struct SessionClient: Sendable {
  let client: APIClient
  let token: Token
  /// Called when the server does not accept the token any more.
  var expire: @Sendable () -> Void = {}

  func send(_ request: Request) async throws -> Reply {
    try await expiring { try await client.send(request, token: token) }
  }

  func openStream(deliver: @escaping @Sendable (Event) -> Void) async throws {
    try await expiring { try await client.transport.openStream(token, deliver: deliver) }
  }
  func closeStream() async { await client.transport.closeStream(token) }

  private func expiring<Answer>(_ ask: () async throws -> Answer) async throws -> Answer {
    do { return try await ask() } catch RequestError.unauthorized {
      expire()
      throw RequestError.unauthorized
    }
  }
}
