import GRDB
import UDI

/// Where the notes are kept. The context that this is installed in owns the database.
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
