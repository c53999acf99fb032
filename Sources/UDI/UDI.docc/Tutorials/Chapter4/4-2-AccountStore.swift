import Synchronization

/// Stands for the files of all accounts.
final class Disk: Sendable {
  private let files = Mutex<[Account: [Article]]>([:])
  subscript(account: Account) -> [Article] {
    get { files.withLock { $0[account, default: []] } }
    set { files.withLock { $0[account] = newValue } }
  }
}

final class AccountStore: ArticleStore, Sendable {
  private let account: Account
  private let disk: Disk
  private let saved: Mutex<[Article]>

  static func open(for account: Account, on disk: Disk) async throws -> AccountStore {
    AccountStore(account, disk)
  }

  private init(_ account: Account, _ disk: Disk) {
    self.account = account
    self.disk = disk
    saved = Mutex(disk[account])
  }

  var articles: [Article] { saved.withLock { $0 } }
  func save(_ article: Article) { saved.withLock { $0.append(article) } }
  func close() async throws { disk[account] = articles }
}
