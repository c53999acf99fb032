/// One run of a factory that somebody watches.
struct Making {
  private let provider: Provider
  private let start = ContinuousClock.now

  /// Whether anybody watches what is made.
  @inline(__always)
  static var isWatched: Bool { UDIRecording.isOn }

  /// Begins, just before the factory is called.
  ///
  /// - Parameter context: The context that the factory gets. What the factory looks up there is recorded.
  init(_ provider: Provider, _ context: UDIContext) {
    self.provider = provider
    context.recordLookups()
  }

  /// Ends, as soon as the factory has made something.
  func end() {
    let duration = start.duration(to: .now)
    Tree.change { _ in provider.lastDuration = duration }
  }
}

extension Provider {
  /// Calls the factory while somebody watches.
  @inline(never)
  final func makeWatched(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    let making = Making(self, context)
    guard let made = try make(context, arguments) else { return nil }
    making.end()
    return made
  }
}
