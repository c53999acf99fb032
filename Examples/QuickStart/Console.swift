import Foundation
import UDI

/// Shows results and complaints to the user.
@MainActor
protocol Console: AnyObject {
  /// Shows a part of the result.
  func show(_ text: String)
  /// Reports a problem. The program goes on, but fails in the end.
  func complain(_ text: String)
}

/// The console of a command-line tool: results on standard output, complaints on standard error.
@MainActor
final class Terminal: @MainActor UDIObject, Console {
  let _attachedContext = UDIAttachment()
  /// Whether there was a complaint, or a result that could not be written.
  private(set) var hasFailed = false
  private var isOutputClosed = false

  func didAttachContext() {
    bind(self, as: (any Console).self)
  }

  func show(_ text: String) {
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
    hasFailed = true
    try? FileHandle.standardError.write(contentsOf: Data("QuickStart: \(text)\n".utf8))
  }
}
