import Synchronization

/// Finds posts by their words.
final class SearchIndex: Sendable {
  private let ids = Mutex<[String: Set<Int>]>([:])

  func add(_ posts: [Post]) {
    ids.withLock {
      for post in posts {
        for word in post.text.lowercased().split(separator: " ") { $0[String(word), default: []].insert(post.id) }
      }
    }
  }

  func posts(with word: String) -> Set<Int> { ids.withLock { $0[word.lowercased(), default: []] } }
}

/// Searches what this device knows.
struct Search: Sendable {
  let index: SearchIndex
  let timeline: Timeline
  let analytics: any Analytics

  func posts(with word: String) -> [Post] {
    analytics.track("search")
    let ids = index.posts(with: word)
    return timeline.visible.filter { ids.contains($0.id) }
  }
}

/// What people talk about.
struct Trends: Sendable {
  let client: SessionClient

  func tags() async throws -> [String] {
    guard case .trends(let tags) = try await client.send(.trends) else { throw RequestError.unexpectedReply }
    return tags
  }
}
