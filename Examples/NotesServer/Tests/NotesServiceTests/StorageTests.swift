import Foundation
import GRDB
import Testing

@testable import NotesService

@Suite struct StorageTests {
  @Test func aFileKeepsNotes() async throws {
    try await withTemporaryFolder { folder in
      let storage = NotesConfiguration.Storage.file(path: folder.appending(path: "notes.db").path)
      var notes: [Note] = []
      // The migrations run the first time only.
      for title in ["Tea", "Coffee"] {
        let database = try openDatabase(storage)
        let store = try await SQLiteNoteStore.open(database: database, clock: FixedClock())
        notes.append(try await store.insert(try draft(title)))
        #expect(try await store.notes(after: 0, limit: 10) == notes)
        try await store.close()
        try database.close()
      }
    }
  }

  @Test func aCancelledWriteWritesNothing() async throws {
    let store = try await SQLiteNoteStore.open(database: openDatabase(.memory), clock: FixedClock())
    let draft = try draft("Tea")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.insert(draft)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store.notes(after: 0, limit: 1).isEmpty)
  }

  private func draft(_ title: String) throws -> NoteDraft {
    try JSONDecoder().decode(NoteDraft.self, from: JSONEncoder().encode(["title": title]))
  }
}
