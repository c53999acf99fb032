import Observation

/// Reads something again whenever what it has read changes, as SwiftUI does with the body of a view. Notes what it reads.
@MainActor final class Observer<Value: Sendable> {
  private(set) var seen: [Value] = []
  /// How often it has been told of a change.
  private(set) var told = 0
  /// What else it does as soon as it is told.
  var onChange: () -> Void = {}
  private let read: () -> Value

  init(_ read: @escaping () -> Value) {
    self.read = read
    observe()
  }

  private func observe() {
    let value = withObservationTracking(read) { [weak self] in
      // Stops the program if it is told elsewhere.
      MainActor.assumeIsolated {
        self?.told += 1
        self?.onChange()
      }
      Task { @MainActor in self?.observe() }
    }
    seen.append(value)
  }

  /// What it has read since the last call.
  func take() -> [Value] {
    defer { seen = [] }
    return seen
  }
}
