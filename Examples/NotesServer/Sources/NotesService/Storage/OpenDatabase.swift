import GRDB

/// Opens the database and brings its tables up to date.
///
/// - Parameter storage: Where it is.
/// - Returns: The database: a pool for a file, whose readers need not wait for the writer, and one connection in memory.
/// - Throws: Why it cannot be opened, or its tables not be changed.
func openDatabase(_ storage: NotesConfiguration.Storage) throws -> any DatabaseWriter {
  var settings = Configuration()
  // Another process may have the file open, a backup for example.
  settings.busyMode = .timeout(5)
  let database: any DatabaseWriter =
    switch storage {
    case .memory: try DatabaseQueue(configuration: settings)
    case .file(let path): try DatabasePool(path: path, configuration: settings)
    }
  try migrations.migrate(database)
  return database
}

/// All that was ever done to the tables, in that order. What was released is not changed any more: a database may have run it.
private var migrations: DatabaseMigrator {
  var migrator = DatabaseMigrator()
  migrator.registerMigration("create note") { database in
    try database.create(table: "note") { table in
      // `AUTOINCREMENT`: the id of a deleted note must not come back, since pages begin after an id.
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
