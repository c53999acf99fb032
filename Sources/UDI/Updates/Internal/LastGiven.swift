/// What a consumer was given last, to tell whether the next is news. It is not kept alive.
struct LastGiven {
  private var isFirst = true
  private weak var object: AnyObject?
  private var wasNothing = true

  /// Notes what a lookup gives.
  ///
  /// - Returns: Whether it differs from the last time. A value that a provider made always does.
  mutating func note<Dependency>(_ found: Dependency?) -> Bool {
    let new = found.flatMap { StoredForm.of($0, as: Dependency.self)?.object }
    defer {
      isFirst = false
      object = new
      wasNothing = found == nil
    }
    if found == nil { return isFirst || !wasNothing }
    return new == nil || new !== object
  }
}
