/// The place in the source where a verb was called or a linked property was declared. For the library only.
@_documentation(visibility: internal) @safe
public struct UDICallSite: Sendable {
  // The pointer leads to the program's constants. The text of a `#fileID` ends with a zero byte and is never freed.
  @usableFromInline nonisolated(unsafe) let start: UnsafePointer<UInt8>
  /// The line; the highest bit says whether a followed property is declared there.
  @usableFromInline var lineNumber: UInt32

  @_alwaysEmitIntoClient
  init(_ fileID: StaticString, _ line: UInt) {
    unsafe start = fileID.utf8Start
    lineNumber = UInt32(truncatingIfNeeded: line)
  }

  package var fileID: String { unsafe String(cString: start) }
  package var line: Int { Int(lineNumber & ~(1 << 31)) }

  /// Whether a followed property is declared there.
  var isOfFollowed: Bool { lineNumber >> 31 == 1 }
  /// The same place, where a followed property is declared.
  var ofFollowed: UDICallSite {
    var site = self
    site.lineNumber |= 1 << 31
    return site
  }

  /// A hash of the file and the line. A file's name is one constant of the program, so different lines have different
  /// hashes, unless the constants are gigabytes apart.
  var hash: UInt64 { scrambledID(UInt64(UInt(bitPattern: unsafe start)) ^ (UInt64(lineNumber) << 32)) }
}
