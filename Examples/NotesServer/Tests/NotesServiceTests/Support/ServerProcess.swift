import Foundation
import NIOCore
import NIOPosix

/// The server as a process of its own. One task uses it.
final class ServerProcess {
  /// The server ended without having written what a test waits for.
  struct Silence: Error {
    let text: String
    let output: [String]
  }

  private let process = Process()
  private var lines: AsyncStream<String>.Iterator
  private var endings: AsyncStream<Int32>.Iterator
  /// The lines that have been read so far.
  private(set) var output: [String] = []

  /// Starts the server on a port that the system chooses.
  ///
  /// - Parameter arguments: Further options.
  init(_ arguments: [String]) throws {
    let pipe = Pipe()
    process.executableURL = Self.executable
    process.arguments = ["--port", "0"] + arguments
    process.standardOutput = pipe
    process.standardError = pipe

    let (lines, line) = AsyncStream.makeStream(of: String.self)
    let (endings, ending) = AsyncStream.makeStream(of: Int32.self)
    self.lines = lines.makeAsyncIterator()
    self.endings = endings.makeAsyncIterator()
    process.terminationHandler = { process in
      ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
    }
    try process.run()
    Thread.detachNewThread {
      var rest = Data()
      while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          line.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      line.finish()
    }
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// Reads until a line contains a text.
  ///
  /// - Returns: What follows the text.
  @discardableResult
  func read(to text: String) async throws -> String {
    while let line = await lines.next() {
      output.append(line)
      if let range = line.range(of: text) { return String(line[range.upperBound...]) }
    }
    throw Silence(text: text, output: output)
  }

  /// The port, once the server listens.
  func port() async throws -> Int {
    let port = try await read(to: "Listening on http://127.0.0.1:")
    guard let port = Int(port) else { throw Silence(text: "a port", output: output) }
    return port
  }

  /// Tells the server to stop.
  func terminate() { kill(process.processIdentifier, SIGTERM) }

  /// Reads everything, and waits until the server has ended.
  ///
  /// - Returns: The exit status; the negative signal if a signal ended the server.
  func end() async -> Int32? {
    while let line = await lines.next() { output.append(line) }
    return await endings.next()
  }

  /// The messages that the service itself has logged, without those of requests.
  var steps: [String] {
    output.compactMap { line in
      guard !line.contains("hb.request.id"),
        let source = line.range(of: #"\[Notes(Service|Server)\] "#, options: .regularExpression)
      else { return nil }
      return String(line[source.upperBound...])
    }
  }

  /// Where SwiftPM puts the server: beside the tests.
  private static var executable: URL {
    #if os(macOS)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
      return (tests ?? .main).bundleURL.deletingLastPathComponent().appending(path: "NotesServer")
    #else
      return Bundle.main.bundleURL.appending(path: "NotesServer")
    #endif
  }
}
