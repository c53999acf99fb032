/// How large a note, a page of notes and a request may be.
public struct NoteLimits: Sendable {
  /// The characters of a title.
  public var titleLength = 200
  /// The characters of a body.
  public var bodyLength = 10_000
  /// The notes of a page, where the client names no limit.
  public var pageSize = 20
  /// The notes of a page at most.
  public var maximumPageSize = 100
  /// The bytes of a request's body.
  public var requestBytes = 65_536

  /// Makes the limits that the service has by default.
  public init() {}
}
