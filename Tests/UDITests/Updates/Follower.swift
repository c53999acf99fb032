import UDI

/// Follows updates on the main actor, and notes the labels of the elements that it is given.
@MainActor final class Follower {
  private(set) var seen: [String?] = []
  /// The last object that it was given.
  private(set) weak var last: AnyObject?
  private var held: [any Sendable] = []
  private var task: Task<Void, Never>?

  /// - Parameter holds: Whether to keep what is given.
  init<Dependency: Sendable>(_ updates: UDIUpdates<Dependency>, holds: Bool = false) {
    // Made here, so that the consumer counts as one that does not wait yet.
    let iterator = updates.makeAsyncIterator()
    task = Task { [weak self] in
      var iterator = iterator
      while let found = await iterator.next() {
        guard let self else { return }
        last = found.map { $0 as AnyObject }
        seen.append(found.map { ($0 as? any Loose)?.label ?? "\($0)" })
        if holds, let found { held.append(found) }
      }
    }
  }

  /// The elements since the last call.
  func take() -> [String?] {
    defer { seen = [] }
    return seen
  }

  func letGo() { held = [] }

  func end() async {
    task?.cancel()
    await task?.value
  }
}

/// Lets consumers run until all of them wait.
///
/// - Returns: Whether they all came to wait, within more turns than anything useful can take.
@MainActor @discardableResult
func settle(_ contexts: [UDIContext]) async -> Bool {
  var turnsAtRest = 0
  for _ in 0..<20_000 {
    await Task.yield()
    turnsAtRest = contexts.allSatisfy(\.consumersAreWaiting) ? turnsAtRest + 1 : 0
    // Something may have been started that has not begun yet.
    if turnsAtRest == 4 { return true }
  }
  return false
}
