/// What happens if a verb that does not throw cannot add something, because the context is being closed, is closed or
/// is inert. Everything here is called under the tree lock. Reports are made after the lock has been released.
extension Node {
  /// Drops an entry that cannot be added because this context is not open. Reports this, except for an inert context.
  @inline(never)
  func refuse(_ entry: Entry, _ verb: String, _ garbage: inout Garbage) {
    garbage.add(entry)
    reportClosed(spelled("\(verb) did nothing for \(entry.key.description)"), at: entry.site, &garbage)
  }

  /// If the context is being closed or is closed, reports what a verb did instead of its work.
  ///
  /// - Parameter event: What happened, as the beginning of a sentence: "bind did nothing for P".
  @inline(never)
  func reportClosed(_ event: String, at site: UDICallSite = UDICallSite("", 0), _ garbage: inout Garbage) {
    guard treeLocked.state.isEnding else { return }
    let path = fullPath
    garbage.add(
      LateCall.report(.contextClosed, at: site) {
        """
        \(event), because the context \(quoted(path)) is closed, or is being closed. Keep the \
        context open for as long as it is used.
        """
      })
  }
}
