/// What a context refuses once it is being closed. Everything here runs under the tree lock; what is reported is
/// reported after the lock has been given back.
extension Node {
  /// Refuses an entry, because the context is being closed, is closed, or is inert. Only an inert context does this
  /// silently.
  @inline(never)
  func refuse(_ entry: Entry, _ verb: String, _ garbage: inout Garbage) {
    garbage.add(entry)
    guard treeLocked.state.isEnding else { return }
    let (key, path) = (entry.key, fullPath)
    garbage.add(
      LateReport(.contextClosed, at: entry.site) { Self.closedMessage(verb, key.description, path) })
  }

  /// Reports that something was refused if the context is being closed or is closed.
  ///
  /// - Parameter what: What was refused, in words.
  @inline(never)
  func reportClosed(_ verb: String, _ what: String, _ site: CallSite, _ garbage: inout Garbage) {
    guard treeLocked.state.isEnding else { return }
    let path = fullPath
    garbage.add(LateReport(.contextClosed, at: site) { Self.closedMessage(verb, what, path) })
  }

  private static func closedMessage(_ verb: String, _ what: String, _ path: [String]) -> String {
    """
    \(verb) did nothing for \(what), because the context \(quoted(path)) is closed, or is being closed. Keep the \
    context open for as long as it is used.
    """
  }
}
