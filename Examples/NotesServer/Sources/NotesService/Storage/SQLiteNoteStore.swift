import GRDB

/// Keeps notes in a SQLite database.
final class SQLiteNoteStore: NoteStore {
  private let database: any DatabaseWriter
  private let clock: any WallClock

  private init(database: any DatabaseWriter, clock: any WallClock) {
    self.database = database
    self.clock = clock
  }

  /// Brings the tables of a database up to date, and makes a store of it.
  ///
  /// - Parameters:
  ///   - database: The database, which has to be closed after the store.
  ///   - clock: Gives the dates of the notes.
  /// - Returns: The store.
  /// - Throws: An error if the tables cannot be changed.
  static func open(database: any DatabaseWriter, clock: any WallClock) async throws -> SQLiteNoteStore {
    try await migrate(database)
    return SQLiteNoteStore(database: database, clock: clock)
  }

  func insert(_ draft: NoteDraft) async throws -> Note {
    let now = clock.now
    let note = try await database.write { database in
      try Note.fetchOne(
        database.cachedStatement(
          sql: "INSERT INTO note (title, body, createdAt, updatedAt) VALUES (?, ?, ?, ?) RETURNING *"),
        arguments: [draft.title, draft.body, now, now])
    }
    guard let note else { throw DatabaseError(message: "a new note was not returned") }
    return note
  }

  func note(_ id: Int64) async throws -> Note? {
    try await database.read { database in
      try Note.fetchOne(database.cachedStatement(sql: "SELECT * FROM note WHERE id = ?"), arguments: [id])
    }
  }

  func notes(after id: Int64, limit: Int) async throws -> [Note] {
    try await database.read { database in
      try Note.fetchAll(
        database.cachedStatement(sql: "SELECT * FROM note WHERE id > ? ORDER BY id LIMIT ?"), arguments: [id, limit])
    }
  }

  func replace(_ id: Int64, with draft: NoteDraft) async throws -> Note? {
    let now = clock.now
    return try await database.write { database in
      try Note.fetchOne(
        database.cachedStatement(sql: "UPDATE note SET title = ?, body = ?, updatedAt = ? WHERE id = ? RETURNING *"),
        arguments: [draft.title, draft.body, now, id])
    }
  }

  func delete(_ id: Int64) async throws -> Bool {
    try await database.write { database in
      try database.cachedStatement(sql: "DELETE FROM note WHERE id = ?").execute(arguments: [id])
      return database.changesCount > 0
    }
  }

  func check() async throws {
    try await database.read { database in try database.execute(sql: "SELECT 1 FROM note LIMIT 0") }
  }

  func close() async throws {
    // SQLite recommends this before connections are closed: it updates the statistics that the query planner uses. In a
    // task of its own, because GRDB does nothing in a task that is cancelled.
    try await Task { [database] in
      try await database.writeWithoutTransaction { database in try database.execute(sql: "PRAGMA optimize") }
    }.value
  }
}

extension Note: FetchableRecord {}
