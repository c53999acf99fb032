import ServiceLifecycle

/// Runs a closure in place of the server.
struct TestServer: Service {
  private let body: @Sendable () async throws -> Void

  init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

  func run() async throws { try await body() }
}
