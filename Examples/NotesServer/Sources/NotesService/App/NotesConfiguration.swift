/// What the operator decides: where to listen, where the notes are kept, and how large things may be.
public struct NotesConfiguration: Sendable {
  /// Where the notes are kept.
  public enum Storage: Sendable {
    /// Until the server ends.
    case memory
    /// In a file, which is made if it is not there.
    case file(path: String)
  }

  /// The address to listen on.
  public var host: String
  /// The port to listen on; 0 has the system choose one.
  public var port: Int
  /// Where the notes are kept.
  public var storage: Storage
  /// How large things may be.
  public var limits: NoteLimits

  /// Makes a configuration.
  public init(
    host: String = "127.0.0.1", port: Int = 8080, storage: Storage = .memory, limits: NoteLimits = NoteLimits()
  ) {
    self.host = host
    self.port = port
    self.storage = storage
    self.limits = limits
  }
}
