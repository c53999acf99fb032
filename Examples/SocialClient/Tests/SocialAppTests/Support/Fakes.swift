import Synchronization

@testable import SocialApp

/// Passes requests on, remembers them, and can be switched off.
final class RecordingTransport: Transport, Sendable {
  private struct State {
    var isOnline = true
    var log: [String] = []
  }
  private let inner: LoopbackTransport
  private let state = Mutex(State())

  init(_ server: SocialServer) { inner = LoopbackTransport(server: server) }

  var log: [String] { state.withLock { $0.log } }
  func set(isOnline: Bool) { state.withLock { $0.isOnline = isOnline } }

  func send(_ request: Request, token: Token?) async throws -> Reply {
    try note("\(request)")
    return try await inner.send(request, token: token)
  }

  func openStream(_ token: Token, deliver: @escaping @Sendable (Event) -> Void) async throws {
    try note("openStream")
    try await inner.openStream(token, deliver: deliver)
  }

  func closeStream(_ token: Token) async {
    try? note("closeStream")
    await inner.closeStream(token)
  }

  /// Remembers the name of a request.
  private func note(_ text: String) throws {
    let isOnline = state.withLock {
      $0.log.append(String(text.prefix { $0 != "(" }))
      return $0.isOnline
    }
    guard isOnline else { throw RequestError.offline }
  }
}

/// A clock that stands.
struct StoppedClock: WallClock { let now = 42 }

/// Shows nothing.
struct NothingFilter: TimelineFilter { func shows(_ post: Post) -> Bool { false } }

/// An error of a test.
struct Broken: Error, Equatable {}
