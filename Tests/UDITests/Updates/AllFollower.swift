import UDI

/// Follows all dependencies of a type on the main actor, and notes the elements that it is given.
@MainActor final class AllFollower {
  /// The elements, as texts such as `["plain", "a: member"]`.
  private(set) var seen: [[String]] = []
  /// The names in the last element.
  private(set) var names: [UDIName?] = []
  /// The objects of the last element that are still there.
  var last: [AnyObject?] { weakly.map { $0() } }
  private var weakly: [() -> AnyObject?] = []
  private var held: [any Sendable] = []
  private var task: Task<Void, Never>?

  /// - Parameter holds: Whether to keep the last element.
  init<Dependency: Sendable>(
    _ updates: UDIResults<[(name: UDIName?, dependency: Dependency)]>, holds: Bool = false
  ) {
    // Made here, so that the consumer counts as one that does not wait yet.
    let iterator = updates.makeAsyncIterator()
    task = Task { [weak self] in
      var iterator = iterator
      while let found = await iterator.next() {
        guard let self else { return }
        names = found.map(\.name)
        weakly = found.map { found in { [weak object = found.dependency as AnyObject] in object } }
        seen.append(found.map { Self.text($0.name, $0.dependency) })
        if holds { held = found.map(\.dependency) }
      }
    }
  }

  static func text(_ name: UDIName?, _ dependency: some Sendable) -> String {
    let label = (dependency as? any Loose)?.label ?? "\(dependency)"
    return name.map { "\($0): \(label)" } ?? label
  }

  /// The elements since the last call.
  func take() -> [[String]] {
    defer { seen = [] }
    return seen
  }

  func letGo() { held = [] }

  func end() async {
    task?.cancel()
    await task?.value
  }
}
