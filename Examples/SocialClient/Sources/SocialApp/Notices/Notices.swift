import Observation
import Synchronization

/// The notices that this device knows. Whoever reads how many are unread can observe it.
final class NoticeStore: Observable, Sendable {
  private struct State {
    var notices: [Int: Notice] = [:]
    var lastRead = 0
  }
  private let state = Mutex(State())
  private let registrar = ObservationRegistrar()

  var all: [Notice] { state.withLock { $0.notices.values.sorted { $0.id < $1.id } } }
  var lastID: Int { state.withLock { $0.notices.keys.max() ?? 0 } }
  var unread: Int {
    registrar.access(self, keyPath: \.unread)
    return state.withLock { state in state.notices.keys.count { $0 > state.lastRead } }
  }

  func insert(_ new: [Notice]) { change { for notice in new { $0.notices[notice.id] = notice } } }
  func markRead() { change { $0.lastRead = $0.notices.keys.max() ?? 0 } }

  private func change(_ body: (inout State) -> Void) {
    registrar.withMutation(of: self, keyPath: \.unread) { state.withLock { body(&$0) } }
  }
}

/// Says notices in words.
struct NoticeTexts: Sendable {
  let texts: Texts

  func text(of notice: Notice) -> String {
    switch notice.kind {
    case .mention: "\(notice.from) \(texts["mentioned you"])"
    case .like: "\(notice.from) \(texts["liked your post"])"
    case .follow: "\(notice.from) \(texts["follows you"])"
    }
  }
}

/// Tells the server on which device the account wants to be notified.
final class PushSubscription: Sendable {
  private let client: SessionClient
  private let device: String

  /// Subscribes.
  init(client: SessionClient, gateway: PushGateway) async throws {
    self.client = client
    device = gateway.register()
    _ = try await client.send(.addDevice(device))
  }

  func end() async throws { _ = try await client.send(.removeDevice(device)) }
}
