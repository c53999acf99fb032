/// What a consumer was given last, to decide whether the next answer is new. It does not keep the object alive.
struct LastGiven {
  private var isFirst = true
  private weak var object: AnyObject?
  private var wasNothing = true

  /// Records what a lookup found.
  ///
  /// - Returns: Whether it differs from the last answer. A value that a provider made always does.
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
