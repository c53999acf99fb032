/// Measures one run of a factory, and has the factory's lookups recorded.
struct Making {
  private let provider: Provider
  private let start = ContinuousClock.now

  /// Whether runs of factories are measured and recorded.
  @inline(__always)
  static var isWatched: Bool { UDIRecording.isOn }

  /// Starts the measurement. Call this just before the factory is called.
  ///
  /// - Parameter context: The context that the factory is given. What the factory looks up there is recorded.
  init(_ provider: Provider, _ context: UDIContext) {
    self.provider = provider
    context.recordLookups()
  }

  /// Ends the measurement. Call this as soon as the factory has made an instance.
  func end() {
    let duration = start.duration(to: .now)
    Tree.change { _ in provider.lastDuration = duration }
  }
}

extension Provider {
  /// Calls the factory, measures how long it takes, and has its lookups recorded.
  @inline(never)
  final func makeWatched(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    let making = Making(self, context)
    guard let made = try make(context, arguments) else { return nil }
    making.end()
    return made
  }
}
