/// Keeps notes. Each function is one transaction.
public protocol NoteStore: AnyObject, Sendable {
  /// Adds a note.
  func insert(_ draft: NoteDraft) async throws -> Note
  /// Returns the note with an id.
  func note(_ id: Int64) async throws -> Note?
  /// Returns the notes whose ids are greater than the one given, in the order of their ids, up to a limit.
  func notes(after id: Int64, limit: Int) async throws -> [Note]
  /// Replaces the content of a note; returns nil if there is no note with that id.
  func replace(_ id: Int64, with draft: NoteDraft) async throws -> Note?
  /// Deletes a note, and returns whether there was one.
  func delete(_ id: Int64) async throws -> Bool
  /// Throws if the store cannot be used.
  func check() async throws
  /// Ends the work of the store. Nobody may use it afterwards.
  func close() async throws
}
