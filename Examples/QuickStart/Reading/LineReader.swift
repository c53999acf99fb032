import Foundation

/// Reads the lines of an input, piece by piece, so that an input of any size takes little memory.
struct LineReader {
  /// The rest of a line that is longer than this is skipped.
  static let longestLine = 4 << 20
  private static let pieceSize = 1 << 20

  private let handle: FileHandle
  /// The number of bytes that have been read.
  private(set) var position = 0
  /// Whether the input is read as Latin-1. It is read as UTF-8 at first, and as Latin-1 from the first piece on that is
  /// not UTF-8. All bytes are Latin-1, and what was read before consists of the same characters if it was ASCII.
  private(set) var isLatin1 = false
  /// The beginning of a line whose end has not been read yet.
  private var unfinished: [UInt8] = []
  private var isAtEnd = false

  init(_ handle: FileHandle) { self.handle = handle }

  /// Returns the next lines, in UTF-8 and without their line ends, or nil at the end of the input.
  mutating func next() throws(Unreadable) -> [Bytes]? {
    var bytes = unfinished
    unfinished = []
    var isTooLong = false
    var end = 0
    while end == 0 {
      if isAtEnd {
        end = bytes.count
        break
      }
      let piece = try read()
      isAtEnd = piece.isEmpty
      let start = bytes.count
      bytes += isTooLong ? piece.drop { $0 != .newline } : piece[...]
      if let newline = bytes[start...].lastIndex(of: .newline) {
        end = newline + 1
      } else if bytes.count > Self.longestLine {
        isTooLong = true
        bytes.removeSubrange(Self.longestLine...)
        // The last character may be incomplete now. In UTF-8, it has at most four bytes.
        for _ in 0..<4 {
          if let last = bytes.popLast(), last & 0b1100_0000 != 0b1000_0000 { break }
        }
      }
    }
    guard end > 0 else { return nil }
    unfinished = Array(bytes[end...])
    return lines(of: decoded(bytes[..<end]))
  }

  /// Reads the next piece; an empty one is the end.
  private mutating func read() throws(Unreadable) -> [UInt8] {
    let piece: [UInt8]
    do {
      piece = Array(try handle.read(upToCount: Self.pieceSize) ?? Data())
    } catch {
      throw Unreadable(because: error)
    }
    guard !piece.contains(0) else { throw Unreadable(reason: "is not text: it contains a NUL byte") }
    let isFirst = position == 0
    position += piece.count
    return isFirst && piece.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(piece.dropFirst(3)) : piece
  }

  private mutating func decoded(_ bytes: Bytes) -> Bytes {
    if bytes.allSatisfy({ $0 < 0x80 }) { return bytes }
    if !isLatin1, String(validating: bytes, as: UTF8.self) != nil { return bytes }
    isLatin1 = true
    return Bytes(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8)
  }

  /// Divides a text at its line ends. There is no further line after the last line end.
  private func lines(of bytes: Bytes) -> [Bytes] {
    var lines: [Bytes] = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: .newline) ?? bytes.endIndex
      let isCarriageReturnFirst = end > start && bytes[end - 1] == UInt8(ascii: "\r")
      lines.append(bytes[start..<(isCarriageReturnFirst ? end - 1 : end)])
      start = end + 1
    }
    return lines
  }
}

extension UInt8 {
  fileprivate static var newline: UInt8 { UInt8(ascii: "\n") }
}
