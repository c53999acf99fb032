import Synchronization

/// What is left of a lookup when everything is left out that can be: a weak load of a class reference held in a class, under
/// an uncontended lock.
final class Floor: @unchecked Sendable {
  // Unchecked: `reference` is only read.
  private let lock = Mutex<Void>(())
  private weak var reference: Plain?

  init(_ object: Plain) { reference = object }

  @inline(__always)
  func load() -> Plain? { lock.withLock { _ in reference } }
}

/// Takes a value where the optimiser cannot see what becomes of it.
@_optimize(none)
@inline(never)
func opaque<Value>(_ value: Value) {}
