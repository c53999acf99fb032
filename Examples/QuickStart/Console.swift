import Foundation
import UDI

/// Where the program speaks to its user.
@MainActor
protocol Console: AnyObject {
  /// Shows a part of the result.
  func show(_ text: String)
  /// Says that something went wrong; the program goes on, but fails in the end.
  func complain(_ text: String)
}

/// The console of a command-line tool: results on standard output, complaints on standard error.
@MainActor
final class Terminal: @MainActor UDIObject, Console {
  let _attachedContext = UDIAttachment()
  /// Whether there was a complaint, or a result that could not be shown.
  private(set) var hasFailed = false
  private var isOutputClosed = false

  func didAttachContext() {
    bind(self, as: (any Console).self)
  }

  func show(_ text: String) {
    guard !isOutputClosed else { return }
    do {
      // `print` would not tell that a disk is full.
      try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    } catch {
      // What follows would fail for the same reason. That a reader has seen enough, like `head`, is no complaint.
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
