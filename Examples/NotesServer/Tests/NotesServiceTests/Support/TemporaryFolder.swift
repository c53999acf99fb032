import Foundation

/// Runs an operation with an empty folder, and removes the folder afterwards.
func withTemporaryFolder(_ operation: (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await operation(folder)
}
