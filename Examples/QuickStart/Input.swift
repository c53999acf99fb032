import UDI

/// One input, and the objects that live in its context.
///
/// A context holds what is bound in it only weakly. So the input holds the parser and the counters, which can be found
/// as long as the input lives.
@MainActor
final class Input: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  private let source: Source
  private var console: (any Console)?
  private var parser: (any LineParser)?
  private var counters: (any Counters)?

  init(_ source: Source) {
    self.source = source
  }

  func didAttachContext() {
    // Bound in the context above, for all inputs.
    link(\.console)
  }

  /// Reads the input and counts its lines.
  ///
  /// - Returns: Whether the input could be read. If not, the console has been told why.
  func digest() -> Bool {
    guard let context = attachedContext else { return false }
    let lines: [Substring]
    do throws(Unreadable) {
      lines = logLines(of: try source.read())
    } catch {
      console?.complain("\(source.name): \(error.reason)")
      return false
    }
    // The parser comes first, because the counters look it up when they are attached.
    parser = makeParser(for: lines).attached(to: context)
    let counters = LineCounters().attached(to: context)
    for line in lines { counters.count(line) }
    self.counters = counters
    return true
  }
}
