public import Testing
import UDI

/// Runs an operation several times, and fails the test if there is more of something after each round.
///
/// The function counts contexts, objects, bindings and providers. It finds code that leaves something behind each time.
/// It allows code that does so only the first time.
///
/// ```swift
/// try await expectNoGrowth {
///   try await openScreen()
///   try await closeScreen()
/// }
/// ```
///
/// The function counts the contexts that the operation makes. For each class, it counts the objects that the operation
/// binds or attaches, or that a context comes to own. And for each type, it counts the bindings and providers in the
/// tree of `AppContext`. Each issue says what there is more of, and how many there were after each round.
///
/// If the task has its own `AppContext`, the operation uses it. Otherwise the operation gets a new one, the same in all
/// rounds. Tasks that are ending have a moment to release the objects that they hold.
///
/// - Parameters:
///   - rounds: The number of times to run the operation. It always runs at least three times.
///   - sourceLocation: The place at which the issues are recorded.
///   - operation: The operation to run.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func expectNoGrowth(
  rounds: Int = 3, sourceLocation: SourceLocation = #_sourceLocation,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows {
  var growth = Growth()
  let audit = BindingAudit()
  try await withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: nil, audit: audit) { context in
    growth.start = Growth.counts(audit, context)
    for _ in 0..<max(3, rounds) {
      try await operation()
      await settle { growth.excess(Growth.counts(audit, context)) }
      growth.rounds.append(Growth.counts(audit, context))
    }
  }
  growth.record(at: sourceLocation)
}

/// Runs a synchronous operation several times, and fails the test if there is more of something after each round.
///
/// In an asynchronous function, the compiler chooses the asynchronous form, even if the operation awaits nothing.
///
/// - Parameters:
///   - rounds: The number of times to run the operation. It always runs at least three times.
///   - sourceLocation: The place at which the issues are recorded.
///   - operation: The operation to run.
/// - Throws: The error that `operation` throws.
@_disfavoredOverload
public func expectNoGrowth(
  rounds: Int = 3, sourceLocation: SourceLocation = #_sourceLocation, during operation: () throws -> Void
) rethrows {
  var growth = Growth()
  try withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: nil) { context, own in
    let audit = BindingAudit()
    try audit.watch(context, madeWith: own) {
      for _ in 0..<max(3, rounds) {
        try operation()
        growth.rounds.append(Growth.counts(audit, context))
      }
    }
  }
  growth.record(at: sourceLocation)
}

/// The numbers of contexts, objects, bindings and providers after each round.
private struct Growth {
  var rounds: [[String: Int]] = []
  /// The numbers before the first round.
  var start: [String: Int] = [:]

  static func counts(_ audit: BindingAudit, _ context: UDIContext) -> [String: Int] {
    var counts: [String: Int] = [:]
    for (className, count) in audit.countsOfLiving() {
      counts[className == "UDIContext" ? "contexts" : "objects of \(className)"] = count
    }
    let entries = context.change { node, garbage in
      node.branch.flatMap { $0.allEntries.map { $0.described(&garbage) } }
    }
    for entry in entries where entry.isProvider || entry.kind == .live {
      let what = entry.isProvider ? "providers" : "bindings"
      counts["\(what) of \(describeType(entry.typeName))", default: 0] += 1
    }
    return counts
  }

  /// How many more there are now than after the last round, in total.
  func excess(_ counts: [String: Int]) -> Int {
    let last = rounds.last ?? start
    return counts.reduce(0) { sum, element in sum + max(0, element.value - last[element.key, default: 0]) }
  }

  func record(at sourceLocation: SourceLocation) {
    for what in Set(rounds.flatMap(\.keys)).sorted() {
      let counts = rounds.map { $0[what, default: 0] }
      guard zip(counts, counts.dropFirst()).allSatisfy({ $0 < $1 }) else { continue }
      let list = counts.map { "\($0)" }.joined(separator: ", ")
      Issue.record("There are more \(what) after each round: \(list).", sourceLocation: sourceLocation)
    }
  }
}
