import Foundation

/// A note as the store keeps it and as clients get it.
public struct Note: Sendable, Codable, Equatable {
  /// Identifies the note. Notes are listed in the order of their ids, and an id is never used again.
  public let id: Int64
  /// What it is about.
  public let title: String
  /// What it says.
  public let body: String
  /// When the note was created.
  public let createdAt: Date
  /// When it was last changed.
  public let updatedAt: Date
}
