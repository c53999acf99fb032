import Foundation
import Testing

@testable import NotesService

@Suite struct StorageTests {
  @Test func aFileKeepsNotes() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let storage = NotesConfiguration.Storage.file(path: folder.appending(path: "notes.db").path)

    let first = SQLiteNoteStore(database: try openDatabase(storage), clock: FixedClock())
    let note = try await first.insert(try draft("Tea"))
    try first.close()

    // The migrations have run already, and do not run again.
    let second = SQLiteNoteStore(database: try openDatabase(storage), clock: FixedClock())
    #expect(try await second.note(note.id) == note)
    try second.close()
  }

  @Test func aCancelledWriteWritesNothing() async throws {
    let store = SQLiteNoteStore(database: try openDatabase(.memory), clock: FixedClock())
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
