import Synchronization

final class Outbox: Mailer, Sendable {
  private let texts = Mutex<[String]>([])
  var sent: [String] { texts.withLock { $0 } }
  func send(_ text: String) { texts.withLock { $0.append(text) } }
}
