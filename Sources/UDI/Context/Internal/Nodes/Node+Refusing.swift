/// What happens if a verb that does not throw cannot add something, because the context is being closed, is closed or
/// is inert. Everything here is called under the tree lock. Reports are made after the lock has been released.
extension Node {
  /// Drops an entry that cannot be added because this context is not open. Reports this, except for an inert context.
  func refuse(_ entry: Entry, _ verb: String, _ garbage: inout Garbage) {
    garbage.add(entry)
    reportClosed(verb, of: entry.key.description, at: entry.site, &garbage)
  }

  /// If the context is being closed or is closed, reports what a verb did instead of its work.
  ///
  /// - Parameter what: A description of what the verb was given and ignored; nil if it has made a closed scope.
  func reportClosed(_ verb: String, of what: String?, at site: UDICallSite, _ garbage: inout Garbage) {
    guard let path = endingPath else { return }
    garbage.add(
      LateCall.report(.contextClosed, at: site) {
        """
        \(verb) \(what.map { "did nothing for \($0)" } ?? "made a closed scope"), because the context \(quoted(path)) \
        is closed, or is being closed. Keep the context open for as long as it is used.
        """
      })
  }
}
