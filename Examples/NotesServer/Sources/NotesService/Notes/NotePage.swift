import HTTPTypes
import Hummingbird

/// Some notes, in the order of their ids, and where the next page begins.
struct NotePage: Codable, Equatable {
  let notes: [Note]
  /// The value of `after` for the next page; nil on the last page.
  let next: Int64?
}

/// Which notes a client asks for.
struct NotePageRequest {
  let limit: Int
  let after: Int64

  /// Reads `limit` and `after` from a query.
  ///
  /// - Throws: What is wrong with them, for the client.
  init(_ query: Parameters, limits: NoteLimits) throws(APIError) {
    limit = try query.number("limit", in: 1...limits.maximumPageSize) ?? limits.pageSize
    after = try query.number("after", in: 0...Int64.max) ?? 0
  }
}

extension Parameters {
  fileprivate func number<Number: FixedWidthInteger>(
    _ name: String, in range: ClosedRange<Number>
  ) throws(APIError) -> Number? {
    guard let text = get(name) else { return nil }
    guard let number = Number(text), range.contains(number) else {
      throw .invalidParameter("\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
