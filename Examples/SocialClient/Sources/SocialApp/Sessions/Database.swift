import Synchronization

/// Keeps an account's data on the device: lists of texts.
protocol Database: Sendable {
  func rows(of table: String) -> [String]
  func setRows(of table: String, to rows: [String])
  func close() async
}

/// A database in memory.
final class MemoryDatabase: Database, Sendable {
  private struct State {
    var tables: [String: [String]] = [:]
    var isOpen = true
  }
  private let state = Mutex(State())

  private init() {}

  /// Opens the database of one account. A real one would open a file, and migrate it.
  static func open(for account: Account) async throws -> MemoryDatabase {
    await Task.yield()
    return MemoryDatabase()
  }

  func rows(of table: String) -> [String] { state.withLock { $0.tables[table, default: []] } }

  func setRows(of table: String, to rows: [String]) {
    state.withLock {
      precondition($0.isOpen, "the database is closed")
      $0.tables[table] = rows
    }
  }

  func close() async { state.withLock { $0.isOpen = false } }
}
