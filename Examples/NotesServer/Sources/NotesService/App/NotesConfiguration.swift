/// The operator's settings: where to listen, where to keep the notes, and where to find the limits.
public struct NotesConfiguration: Sendable {
  /// Where the notes are kept.
  public enum Storage: Sendable {
    /// In memory, until the server ends.
    case memory
    /// In a file, which is created if it does not exist.
    case file(path: String)
  }

  /// The address to listen on.
  public var host: String
  /// The port to listen on; with 0, the system chooses one.
  public var port: Int
  /// Where the notes are kept.
  public var storage: Storage
  /// The file that says how large things may be; nil for the limits that the service has by default.
  public var limitsFile: String?

  /// Makes a configuration.
  public init(
    host: String = "127.0.0.1", port: Int = 8080, storage: Storage = .memory, limitsFile: String? = nil
  ) {
    self.host = host
    self.port = port
    self.storage = storage
    self.limitsFile = limitsFile
  }

  /// Reads the limits.
  ///
  /// - Returns: The limits.
  /// - Throws: `UnusableFile`.
  func readLimits() throws -> NoteLimits { try limitsFile.map(NoteLimits.init(file:)) ?? NoteLimits() }
}
