import Foundation

/// Where the text of an input comes from.
struct Source {
  private enum Origin {
    case standardInput
    case file(URL)
  }

  /// The name that the user gave. The output shows this name, whatever the real path is.
  let name: String
  private let origin: Origin

  static let standardInput = Source(name: "-", origin: .standardInput)

  static func file(_ path: String) -> Source {
    Source(name: path, origin: .file(URL(fileURLWithPath: path)))
  }

  /// The logs that ship with the program, sorted by name.
  static func shippedLogs() -> [Source] {
    let folder = (Bundle.module.resourceURL ?? Bundle.module.bundleURL).appendingPathComponent("SampleLogs")
    let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    // A folder that cannot be listed is returned itself: reading it fails, and gives the reason.
    return (files?.filter { $0.pathExtension == "log" } ?? [folder])
      .map { Source(name: $0.lastPathComponent, origin: .file($0)) }
      .sorted { $0.name < $1.name }
  }

  /// Opens the input. A handle reads pipes and devices as well as regular files.
  func open() throws(Unreadable) -> LineReader {
    // An empty path would mean the current directory.
    guard !name.isEmpty else { throw Unreadable(reason: "no such file") }
    do {
      return switch origin {
      case .standardInput: LineReader(FileHandle.standardInput)
      case .file(let url): LineReader(try FileHandle(forReadingFrom: url))
      }
    } catch {
      throw Unreadable(because: error)
    }
  }

  /// The number of bytes in the input; nil if it is not a regular file.
  var size: Int? {
    guard case .file(let url) = origin else { return nil }
    let values = try? url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
    return values?.isRegularFile == true ? values?.fileSize : nil
  }
}

/// Why the text cannot be read, in words that follow the name of the input.
struct Unreadable: Error {
  let reason: String
}

extension Unreadable {
  init(because error: any Error) {
    reason =
      switch error.systemCode {
      case .ENOENT: "no such file"
      case .EISDIR: "is a directory"
      case .EACCES: "permission denied"
      default: "cannot be read: \(error.underlying.localizedDescription)"
      }
  }
}

extension Error {
  /// The system's own message. Foundation wraps it in an error that says less.
  var underlying: NSError {
    let error = self as NSError
    return error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
  }

  /// The system's error code, if it was the system that failed.
  var systemCode: POSIXErrorCode? {
    underlying.domain == NSPOSIXErrorDomain ? POSIXErrorCode(rawValue: Int32(truncatingIfNeeded: underlying.code)) : nil
  }
}
