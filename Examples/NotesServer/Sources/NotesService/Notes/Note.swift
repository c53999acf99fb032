import Foundation

/// A note as it is kept and as clients get it.
public struct Note: Sendable, Codable, Equatable {
  /// Tells it apart; notes are listed by it, and it is never given to another one.
  public let id: Int64
  /// What it is about.
  public let title: String
  /// What it says.
  public let body: String
  /// When it was made.
  public let createdAt: Date
  /// When it was last changed.
  public let updatedAt: Date
}
