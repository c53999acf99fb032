import Foundation
import Synchronization

@testable import NotesService

/// Keeps notes in a dictionary. At each use it first does what the test wants: wait, or fail.
final class FakeStore: NoteStore {
  private struct State {
    var notes: [Int64: Note] = [:]
    var closings = 0
  }

  private let state: Mutex<State>
  private let onUse: @Sendable () async throws -> Void

  init(_ notes: [Note] = [], onUse: @escaping @Sendable () async throws -> Void = {}) {
    state = Mutex(State(notes: Dictionary(uniqueKeysWithValues: notes.map { ($0.id, $0) })))
    self.onUse = onUse
  }

  var closings: Int { state.withLock { $0.closings } }

  func insert(_ draft: NoteDraft) async throws -> Note {
    try await onUse()
    return state.withLock { state in
      let note = Note(id: Int64(state.notes.count + 1), draft)
      state.notes[note.id] = note
      return note
    }
  }

  func note(_ id: Int64) async throws -> Note? {
    try await onUse()
    return state.withLock { $0.notes[id] }
  }

  func notes(after id: Int64, limit: Int) async throws -> [Note] {
    try await onUse()
    return state.withLock { state in
      Array(state.notes.values.filter { $0.id > id }.sorted { $0.id < $1.id }.prefix(limit))
    }
  }

  func replace(_ id: Int64, with draft: NoteDraft) async throws -> Note? {
    try await onUse()
    return state.withLock { state in
      guard state.notes[id] != nil else { return nil }
      state.notes[id] = Note(id: id, draft)
      return state.notes[id]
    }
  }

  func delete(_ id: Int64) async throws -> Bool {
    try await onUse()
    return state.withLock { $0.notes.removeValue(forKey: id) != nil }
  }

  func check() async throws { try await onUse() }

  func close() { state.withLock { $0.closings += 1 } }
}

extension Note {
  fileprivate init(id: Int64, _ draft: NoteDraft) {
    self.init(id: id, title: draft.title, body: draft.body, createdAt: .epoch, updatedAt: .epoch)
  }

  /// A note whose content does not matter.
  static func sample(_ id: Int64) -> Note {
    Note(id: id, title: "Note \(id)", body: "", createdAt: .epoch, updatedAt: .epoch)
  }
}

extension Date {
  fileprivate static var epoch: Date { Date(timeIntervalSince1970: 0) }
}
