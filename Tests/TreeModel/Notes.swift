import Synchronization

/// What the users' closures have noted since this was last taken.
final class Notes<Element: Sendable>: Sendable {
  private let all = Mutex<[Element]>([])
  func note(_ element: Element) { all.withLock { $0.append(element) } }
  func take() -> [Element] {
    all.withLock { all in
      defer { all = [] }
      return all
    }
  }
}
