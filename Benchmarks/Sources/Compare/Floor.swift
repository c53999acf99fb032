import Synchronization

/// The least that a lookup has to do: a weak load of a class reference held in a class, under an uncontended lock.
final class Floor: @unchecked Sendable {
  // Unchecked, because `reference` is only read.
  private let lock = Mutex<Void>(())
  private weak var reference: Plain?

  init(_ object: Plain) { reference = object }

  @inline(__always)
  func load() -> Plain? { lock.withLock { _ in reference } }
}

/// Takes a value in a way that the optimiser cannot see through.
@_optimize(none)
@inline(never)
func opaque<Value>(_ value: Value) {}
