import GRDB

/// Brings the tables of a database up to date. This can take a while, so no thread of the caller waits for it.
func migrate(_ database: any DatabaseWriter) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    migrations.asyncMigrate(database) { result in continuation.resume(with: result.map { _ in }) }
  }
}

/// All changes ever made to the tables, in order. Never change a migration that was released: some database may have
/// run it.
private var migrations: DatabaseMigrator {
  var migrator = DatabaseMigrator()
  migrator.registerMigration("create note") { database in
    try database.create(table: "note") { table in
      // `AUTOINCREMENT`, so that the id of a deleted note never comes back: pages begin after an id.
      table.autoIncrementedPrimaryKey("id")
      table.column("title", .text).notNull()
      table.column("body", .text).notNull()
    }
  }
  migrator.registerMigration("add dates to note") { database in
    try database.alter(table: "note") { table in
      table.add(column: "createdAt", .datetime).notNull().defaults(to: "1970-01-01 00:00:00.000")
      table.add(column: "updatedAt", .datetime).notNull().defaults(to: "1970-01-01 00:00:00.000")
    }
  }
  return migrator
}
