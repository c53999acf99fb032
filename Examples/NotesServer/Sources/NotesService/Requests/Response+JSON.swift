import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat

extension Response {
  /// Makes a response with a JSON body.
  ///
  /// - Parameters:
  ///   - value: The value to encode in the body.
  ///   - status: The status of the response.
  ///   - headers: Further headers, besides those that describe the body.
  /// - Returns: The response.
  /// - Throws: An error if the value cannot be encoded.
  static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) throws -> Response {
    let bytes = try encoder.encodeAsByteBuffer(value, allocator: ByteBufferAllocator())
    var headers = headers
    headers[.contentType] = "application/json; charset=utf-8"
    headers[.contentLength] = String(bytes.readableBytes)
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: bytes))
  }

  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      // The store keeps milliseconds, which `.iso8601` would omit.
      try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()
}
