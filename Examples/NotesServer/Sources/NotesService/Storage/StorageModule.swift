import GRDB
import UDI

/// The database and the store. The context that installs this module owns both.
struct StorageModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any DatabaseWriter).self, lifetime: .context) { context in
      try openDatabase(context.require(NotesConfiguration.self).storage)
    }
    context.register((any NoteStore).self, lifetime: .context) { context in
      try SQLiteNoteStore(database: context.require(), clock: context.require())
    }
  }
}
