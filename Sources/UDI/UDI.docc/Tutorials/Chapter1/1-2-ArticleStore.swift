import Synchronization

struct Article: Hashable, Sendable {
  let title: String
  let savedOn: Int
}

protocol ArticleStore: Sendable {
  var articles: [Article] { get }
  func save(_ article: Article)
}

final class MemoryStore: ArticleStore, Sendable {
  private let saved = Mutex<[Article]>([])
  var articles: [Article] { saved.withLock { $0 } }
  func save(_ article: Article) { saved.withLock { $0.append(article) } }
}
