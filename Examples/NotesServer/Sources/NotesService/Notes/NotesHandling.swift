import HTTPTypes
import Hummingbird

/// What `/notes` does, given what it needs. The conforming type decides where that comes from.
public protocol NotesHandling {
  /// The work of the request being handled.
  var work: UnitOfWork { get }
  /// How large things may be.
  var limits: NoteLimits { get }
}

extension NotesHandling {
  func list(_ query: Parameters) async throws -> Response {
    let page = try NotePageRequest(query, limits: limits)
    // One note more than asked for shows whether there is a next page.
    let notes = try await work.read { store in try await store.notes(after: page.after, limit: page.limit + 1) }
    let shown = Array(notes.prefix(page.limit))
    return try .json(NotePage(notes: shown, next: notes.count > shown.count ? shown.last?.id : nil))
  }

  func create(_ request: Request) async throws -> Response {
    let draft = try await draft(from: request)
    let note = try await work.write { store in try await store.insert(draft) }
    return try .json(note, status: .created, headers: [.location: "/notes/\(note.id)"])
  }

  func show(_ id: String) async throws -> Response {
    let id = try noteID(id)
    guard let note = try await work.read({ store in try await store.note(id) }) else { throw APIError.noNote(id) }
    return try .json(note)
  }

  func replace(_ id: String, with request: Request) async throws -> Response {
    let id = try noteID(id)
    let draft = try await draft(from: request)
    guard let note = try await work.write({ store in try await store.replace(id, with: draft) }) else {
      throw APIError.noNote(id)
    }
    return try .json(note)
  }

  func delete(_ id: String) async throws -> Response {
    let id = try noteID(id)
    guard try await work.write({ store in try await store.delete(id) }) else { throw APIError.noNote(id) }
    return Response(status: .noContent)
  }

  private func draft(from request: Request) async throws -> NoteDraft {
    let draft = try await request.json(NoteDraft.self, upTo: limits.requestBytes)
    try draft.check(limits)
    return draft
  }

  private func noteID(_ text: String) throws(APIError) -> Int64 {
    guard let id = Int64(text), id > 0 else { throw .invalidID }
    return id
  }
}
