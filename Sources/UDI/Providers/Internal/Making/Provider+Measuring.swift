/// Runs of factories that are recorded or observed.
extension Provider {
  /// Whether runs of factories are recorded or observed.
  @inline(__always)
  static var areRunsMeasured: Bool { isRecording || UDIObserver.mayExist }

  /// Begins to measure a run, just before the factory is called, and, if recording is on, has the factory's
  /// lookups recorded.
  ///
  /// - Parameters:
  ///   - context: The context that the factory is given. The factory's lookups from there are recorded.
  ///   - askers: The keys of the providers whose factories asked for the instance, the outermost first.
  /// - Returns: Ends the measurement, and tells the observer of the instance. Call it as soon as there is one.
  // Not inlined: the caller would prepare memory for an instant at each run.
  @inline(never)
  final func measureRun(in context: UDIContext, askedBy askers: @autoclosure () -> [KeyIdentity]) -> () -> Void {
    let (start, askers) = (ContinuousClock.now, UDIObserver.mayExist ? askers() : [])
    if isRecording { context.recordLookups() }
    return { [self] in
      let duration = start.duration(to: .now)
      if isRecording { Tree.change { _ in ensureExtras().lastDuration = duration } }
      UDIObserver.tell {
        .made(
          UDIEvent.Made(
            typeName: key.type.text, name: key.name?.description, lifetime: lifetime.name, fullPath: context.fullPath,
            duration: duration, askers: askers.map(\.description), fileID: site.fileID, line: site.line))
      }
    }
  }
}
