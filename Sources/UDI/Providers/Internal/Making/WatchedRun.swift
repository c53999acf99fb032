/// One run of a factory, which is recorded or observed. The run is measured. If recording is on, the factory's lookups
/// are recorded; if there is an observer, it is told of the instance. This is an object, because an optional of a
/// struct that contains an instant would cost each run that is not watched a tenth more ("made" in
/// `Benchmarks/instructions`).
final class WatchedRun {
  private let provider: Provider
  private let context: UDIContext
  /// The keys of the providers whose factories asked for the instance, the outermost first. Empty without an observer.
  private let askers: [KeyIdentity]
  private let start = ContinuousClock.now

  /// Whether runs of factories are recorded or observed.
  @inline(__always)
  static var isWanted: Bool { UDIRecording.isOn || UDIObserver.mayExist }

  /// Starts the measurement. Call this just before the factory is called.
  ///
  /// - Parameters:
  ///   - context: The context that the factory is given. If recording is on, what the factory looks up there is
  ///     recorded.
  ///   - askers: The keys of the providers whose factories asked for the instance.
  // Not inlined, nor is `end`: the caller would prepare memory for an instant at each run.
  @inline(never)
  init(_ provider: Provider, _ context: UDIContext, askedBy askers: @autoclosure () -> [KeyIdentity]) {
    self.provider = provider
    self.context = context
    self.askers = UDIObserver.mayExist ? askers() : []
    if UDIRecording.isOn { context.recordLookups() }
  }

  /// Ends the measurement. Call this as soon as the factory has made an instance.
  @inline(never)
  func end() {
    let duration = start.duration(to: .now)
    if UDIRecording.isOn { Tree.change { _ in provider.ensureExtras().lastDuration = duration } }
    guard UDIObserver.mayExist else { return }
    UDIObserver.tell {
      .made(
        UDIEvent.Made(
          provider, path: context.change { node, _ in node.fullPath }, duration: duration, askers: askers))
    }
  }
}
