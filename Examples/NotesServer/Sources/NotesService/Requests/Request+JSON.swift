import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat

extension Request {
  /// Reads the body as JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - limit: The maximum number of bytes.
  /// - Returns: The value.
  /// - Throws: What is wrong with the body, for the client.
  func json<Value: Decodable>(_ type: Value.Type, upTo limit: Int) async throws -> Value {
    let mediaType = headers[.contentType].flatMap(MediaType.init(from:))
    guard let mediaType, mediaType.isType(.applicationJson) else { throw APIError.unsupportedMediaType }
    let bytes: ByteBuffer
    do { bytes = try await body.collect(upTo: limit) } catch is NIOTooManyBytesError {
      throw APIError.bodyTooLarge(limit)
    }
    do { return try JSONDecoder().decode(type, from: bytes) } catch let error as DecodingError { throw APIError(error) }
  }
}
