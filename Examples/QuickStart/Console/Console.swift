import Foundation

/// Shows results and complaints to the user.
@MainActor
protocol Console: AnyObject {
  /// Shows a part of the result.
  func show(_ text: String)
  /// Reports a problem. The program goes on, but fails in the end.
  func complain(_ text: String)
  /// Shows how much of an input has been read, if that takes a while.
  ///
  /// - Parameters:
  ///   - count: The number of bytes that have been read.
  ///   - size: The number of bytes in the input, if it is known.
  func showProgress(of name: String, _ count: Int, _ size: Int?)
}

/// The console of a command-line tool: results on standard output, everything else on standard error.
@MainActor
final class Terminal: Console {
  /// Whether there was a complaint, or a result that could not be written.
  private(set) var hasFailed = false
  private var isOutputClosed = false
  /// Whether a line of progress is on the screen.
  private var showsProgress = false

  func show(_ text: String) {
    clearProgress()
    guard !isOutputClosed else { return }
    do {
      // `print` would not notice that a disk is full.
      try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    } catch {
      // Later writes would fail for the same reason. If the reader has seen enough, as `head` has, that is no reason to
      // complain.
      isOutputClosed = true
      hasFailed = true
      if error.systemCode != .EPIPE { complain("standard output: \(error.underlying.localizedDescription)") }
    }
  }

  func complain(_ text: String) {
    clearProgress()
    hasFailed = true
    try? FileHandle.standardError.write(contentsOf: Data("QuickStart: \(text)\n".utf8))
  }

  func showProgress(of name: String, _ count: Int, _ size: Int?) {
    // Small inputs are read before anybody could read this. In a file, it would be in the way.
    guard count >= 16 << 20, isatty(STDERR_FILENO) == 1 else { return }
    let share = size.map { $0 > 0 ? " of \($0 >> 20) MiB, \(100 * count / $0) %" : "" } ?? " MiB"
    showsProgress = true
    try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K\(name): \(count >> 20)\(share)".utf8))
  }

  private func clearProgress() {
    guard showsProgress else { return }
    showsProgress = false
    try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8))
  }
}
