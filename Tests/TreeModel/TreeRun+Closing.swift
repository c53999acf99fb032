import Dispatch
import UDI

extension TreeRun {
  func isClosed(_ context: Int) -> Bool { oracle.contexts[context]!.isClosed }

  /// Closes a context, which may be closed already, and compares what is closed with what should be.
  mutating func close(_ context: Int) -> String {
    if !isClosed(context) {
      guard canSpare(oracle.branch(context)) else { return "nothing" }
      // There are never many closed contexts.
      for id in contextIDs where isClosed(id) { discard([id]) }
    }
    closeAndCompare(context)
    return "close \(context)"
  }

  /// Closes everything.
  ///
  /// - Returns: What differs from what should be closed, or nil.
  package mutating func end() -> String? {
    noteMade()
    for context in contextIDs where oracle.contexts[context]!.parent == nil { closeAndCompare(context) }
    return complaint
  }

  private mutating func closeAndCompare(_ context: Int) {
    let expected = oracle.close(context)
    let failed = waitForClose(contexts[context]!)
    let found = closed.take()
    closings += found.count
    if found != expected { complaint = "\(found) are closed, not \(expected)" }
    let expectedToFail = expected.filter(Broken.isThrown)
    if failed != expectedToFail { complaint = "the closers of \(failed) fail, not those of \(expectedToFail)" }
  }

  /// Closes a context and waits until that is done. Do not call this on a thread that tasks need.
  ///
  /// - Returns: The numbers of the instances whose closers threw.
  private func waitForClose(_ context: UDIContext) -> [Int] {
    let (failed, isDone) = (Notes<Int>(), DispatchSemaphore(value: 0))
    Task {
      do { try await context.close() } catch {
        for failure in (error as? UDICloseError)?.failures ?? [] {
          failed.note((failure.error as? Broken)?.instance ?? -1)
        }
      }
      isDone.signal()
    }
    isDone.wait()
    return failed.take()
  }
}

/// What every third closer throws.
struct Broken: Error {
  let instance: Int

  static func isThrown(closing instance: Int) -> Bool { instance % 3 == 0 }
}
