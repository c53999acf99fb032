import Foundation

/// How large a note, a page of notes and a request may be.
public struct NoteLimits: Sendable, Decodable {
  /// The maximum number of characters in a title.
  public var titleLength = 200
  /// The maximum number of characters in a body.
  public var bodyLength = 10_000
  /// The number of notes on a page, if the client gives no limit.
  public var pageSize = 20
  /// The maximum number of notes on a page.
  public var maximumPageSize = 100
  /// The maximum number of bytes in a request's body.
  public var requestBytes = 65_536

  /// Makes the limits that the service has by default.
  public init() {}

  /// Reads the limits from a JSON file, which has to contain all of them.
  ///
  /// - Parameter path: The file.
  /// - Throws: `UnusableFile`.
  init(file path: String) throws {
    let bytes: Data
    do { bytes = try Data(contentsOf: URL(filePath: path)) } catch {
      throw UnusableFile(path: path, reason: error.localizedDescription)
    }
    do { self = try JSONDecoder().decode(NoteLimits.self, from: bytes) } catch {
      throw UnusableFile(path: path, reason: "\(error)")
    }
  }
}
