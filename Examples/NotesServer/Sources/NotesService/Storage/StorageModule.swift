import GRDB
import Logging
import UDI

/// The database and the store. The context that installs this module owns both, and closes the store before the
/// database, because the store was made of the database.
struct StorageModule: UDIModule {
  let logger: Logger

  func register(in context: UDIContext) {
    context.register((any DatabaseWriter).self) { [logger] context in
      let database = try openDatabase(context.require(NotesConfiguration.self).storage)
      logger.info("Opened the database")
      return database
    }.onClose { [logger] database in
      try database.close()
      logger.info("Closed the database")
    }
    context.register((any NoteStore).self) { [logger] context in
      let store = try await SQLiteNoteStore.open(database: context.obtain(), clock: context.obtain())
      logger.info("Opened the store")
      return store
    }.onClose { [logger] store in
      try await store.close()
      logger.info("Closed the store")
    }
  }
}
