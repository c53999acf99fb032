#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension UDITreePage {
  /// Writes the page to a single file, with the current data.
  ///
  /// The file loads nothing: a browser shows it without a server or a network.
  ///
  /// - Parameter path: The path of the file. An existing file is replaced.
  /// - Throws: ``WriteError`` if the file cannot be written.
  /// - Complexity: O(contexts and bindings).
  public func write(to path: String) throws(WriteError) {
    guard let file = unsafe fopen(path, "wb") else { throw WriteError(path: path, code: errno) }
    let bytes = Array(html().utf8)
    // The pointer is used only during the call.
    let written = unsafe bytes.withUnsafeBufferPointer { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
    let code = errno
    // Closing the file writes the rest of the buffer, and this can fail.
    let isClosed = unsafe fclose(file) == 0
    guard written == bytes.count else { throw WriteError(path: path, code: code) }
    guard isClosed else { throw WriteError(path: path, code: errno) }
  }

  /// The error if the page cannot be written to a file.
  public struct WriteError: Error, Hashable, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    /// The system's error code, `errno`.
    public let code: Int32

    /// The path, and the system's message.
    public var description: String {
      // The message is copied at once, because it belongs to the system and a later call of `strerror` may
      // overwrite it.
      let message = unsafe strerror(code).map { unsafe String(cString: $0) }
      return "\(path) cannot be written: \(message ?? "error \(code)")"
    }
  }
}
