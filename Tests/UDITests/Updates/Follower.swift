import UDI

/// Follows a sequence of updates on the main actor, and notes the elements that it is given.
@MainActor class FollowerOf<Note> {
  private(set) var seen: [Note] = []
  private(set) var held: [any Sendable] = []
  private var task: Task<Void, Never>?

  /// - Parameter note: Describes an element.
  final func follow<Element: Sendable>(
    _ updates: UDIResults<Element>, note: @escaping @MainActor (Element) -> Note?
  ) {
    // Made here, so that the consumer counts as one that does not wait yet.
    let iterator = updates.makeAsyncIterator()
    task = Task { [weak self] in
      var iterator = iterator
      while let found = await iterator.next() {
        guard let note = note(found) else { return }
        self?.seen.append(note)
      }
    }
  }

  final func hold(_ dependencies: [any Sendable]) { held = dependencies }

  /// The elements since the last call.
  final func take() -> [Note] {
    defer { seen = [] }
    return seen
  }

  final func letGo() { held = [] }

  final func end() async {
    task?.cancel()
    await task?.value
  }
}

/// Follows one dependency, and notes the labels of what it is given.
final class Follower: FollowerOf<String?> {
  /// The last object that it was given.
  private(set) weak var last: AnyObject?

  /// - Parameter holds: Whether to keep what is given.
  init<Dependency: Sendable>(_ updates: UDIUpdates<Dependency>, holds: Bool = false) {
    super.init()
    follow(updates) { [weak self] found in
      guard let self else { return nil }
      last = found.map { $0 as AnyObject }
      if holds, let found { hold(held + [found]) }
      return .some(found.map { ($0 as? any Loose)?.label ?? "\($0)" })
    }
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
