/// Keeps notes. Each function is one transaction.
public protocol NoteStore: AnyObject, Sendable {
  /// Adds a note.
  func insert(_ draft: NoteDraft) async throws -> Note
  /// The note with an id.
  func note(_ id: Int64) async throws -> Note?
  /// The notes with an id above the one given, in the order of their ids, as many as asked for at most.
  func notes(after id: Int64, limit: Int) async throws -> [Note]
  /// Replaces what a note says; nil if there is none with that id.
  func replace(_ id: Int64, with draft: NoteDraft) async throws -> Note?
  /// Deletes a note, and says whether there was one.
  func delete(_ id: Int64) async throws -> Bool
  /// Throws if the store cannot be used.
  func check() async throws
  /// Ends the store's use: nobody may call anything afterwards.
  func close() throws
}
