import GRDB

/// Opens the database and brings its tables up to date.
///
/// - Parameter storage: Where the database is.
/// - Returns: The database. For a file it is a pool, whose readers need not wait for the writer; in memory it is a
///   single connection.
/// - Throws: An error if the database cannot be opened or its tables cannot be changed.
func openDatabase(_ storage: NotesConfiguration.Storage) throws -> any DatabaseWriter {
  var settings = Configuration()
  // Another process, such as a backup, may have the file open.
  settings.busyMode = .timeout(5)
  let database: any DatabaseWriter =
    switch storage {
    case .memory: try DatabaseQueue(configuration: settings)
    case .file(let path): try DatabasePool(path: path, configuration: settings)
    }
  try migrations.migrate(database)
  return database
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
