import Synchronization
import UDI

protocol Alpha: AnyObject, Sendable {}
protocol Beta: AnyObject, Sendable {}
protocol Gamma: AnyObject, Sendable {}

/// An object that a provider makes. It counts the instances of a test that are alive.
final class Made: Alpha, Beta, Gamma, Service, Other, Loose {
  let label: String
  let census: Census
  /// What it was made with.
  let parts: [any Sendable]

  init(_ label: String = "made", _ census: Census = Census(), parts: [any Sendable] = []) {
    self.label = label
    self.census = census
    self.parts = parts
    census.born()
  }

  deinit { census.died() }
}

/// How many instances were made, and how many are alive.
final class Census: Sendable {
  private let births = Atomic<Int>(0)
  private let deaths = Atomic<Int>(0)
  var everBorn: Int { births.load(ordering: .sequentiallyConsistent) }
  var alive: Int { everBorn - deaths.load(ordering: .sequentiallyConsistent) }
  func born() { births.add(1, ordering: .sequentiallyConsistent) }
  func died() { deaths.add(1, ordering: .sequentiallyConsistent) }
}

/// The error of a factory that fails.
struct OutOfOrder: Error, Equatable { var code = 7 }

/// Two that refer to each other.
final class Left: Alpha {
  private let other = Locked<Right?>(nil)
  var right: Right? {
    get { other.withLock { $0 } }
    set { other.withLock { $0 = newValue } }
  }
}

final class Right: Beta {
  private struct Weak: Sendable { weak let left: Left? }
  private let other = Locked(Weak(left: nil))
  var left: Left? {
    get { other.withLock { $0.left } }
    set { other.withLock { $0 = Weak(left: newValue) } }
  }
}
