import Synchronization

/// Keeps what has been begun and not sent.
struct Drafts: Sendable {
  let database: any Database
  var latest: String? { database.rows(of: "drafts").last }
  func save(_ text: String) { database.setRows(of: "drafts", to: text.isEmpty ? [] : [text]) }
}

/// Keeps what could not be sent, and sends it later.
final class Outbox: Sendable {
  private let client: SessionClient
  private let posts: PostStore
  private let waiting = Mutex<[Request]>([])

  init(client: SessionClient, posts: PostStore) {
    self.client = client
    self.posts = posts
  }

  var count: Int { waiting.withLock { $0.count } }

  func send(_ request: Request) async throws {
    waiting.withLock { $0.append(request) }
    try await flush()
  }

  func flush() async throws {
    while let request = waiting.withLock({ $0.first }) {
      guard case .post(let post) = try await client.send(request) else { throw RequestError.unexpectedReply }
      posts.insert([post])
      waiting.withLock { _ = $0.removeFirst() }
    }
  }
}

/// Publishes posts with their files.
struct Publisher: Sendable {
  let outbox: Outbox
  let uploader: MediaUploader
  let drafts: Drafts
  let analytics: any Analytics

  func publish(_ text: String, files: [[UInt8]] = [], replyTo: Int? = nil) async throws {
    var media: [String] = []
    for file in files { media.append(try await uploader.upload(file)) }
    try await outbox.send(.publish(text, replyTo: replyTo, media: media))
    drafts.save("")
    analytics.track("post")
  }
}
