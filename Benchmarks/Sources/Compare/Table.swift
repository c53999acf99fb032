/// Samples of all scenarios, taken in turn.
struct Table {
  struct Row {
    let scenario: Scenario
    let minimum: Double
    let median: Double
    let floor: Double
    /// The time that is subtracted; see `Scenario.above`.
    let above: Double
    var ratio: Double { (median - above) / floor }
    var isOver: Bool { scenario.limit.map { ratio > $0 } ?? false }
  }

  let rows: [Row]
  let countOfRounds: Int
  /// How many rounds no other program disturbed.
  let countOfQuiet: Int

  var failures: [String] {
    rows.filter(\.isOver).map {
      "\($0.scenario.name): \(rounded($0.ratio)), more than \(rounded($0.scenario.limit ?? 0))"
    }
  }

  func rendered(allocations: [Double]) -> String {
    let head =
      pad("scenario", 56) + ["min ns", "median", "floor", "ratio", "limit", "allocs"].map { right($0, 9) }.joined()
    let lines = zip(rows, allocations).map { row, count in
      pad(row.scenario.name, 56)
        + [
          rounded(row.minimum), rounded(row.median), rounded(row.floor), rounded(row.ratio),
          row.scenario.limit.map(rounded) ?? "", rounded(count),
        ].map { right($0, 9) }.joined()
    }
    let disturbed = countOfRounds - countOfQuiet
    let note =
      countOfQuiet < 15
      ? "\(countOfRounds) rounds, \(disturbed) disturbed by other programs; the least disturbed are counted, too. Try again."
      : "\(countOfRounds) rounds, \(disturbed) disturbed by other programs and left out"
    return ([head] + lines + [note]).joined(separator: "\n")
  }
}

/// Takes samples of each scenario, each at least 20 ms long, until 15 rounds were undisturbed or 60 rounds were tried.
///
/// If the machine is never quiet, the 15 least disturbed rounds count.
func measure(_ scenarios: [Scenario]) -> Table {
  let probe = Probe()
  var rounds: [Round] = []
  repeat { rounds.append(Round(scenarios, probe)) } while undisturbed(rounds).count < 15 && rounds.count < 60
  let quiet = undisturbed(rounds)
  let counted = rounds.sorted { $0.slowestProbe < $1.slowestProbe }.prefix(max(15, quiet.count))
  let samples = scenarios.indices.map { index in counted.map { $0.samples[index] }.sorted() }
  let medians = samples.map { $0[$0.count / 2] }
  let byName = Dictionary(uniqueKeysWithValues: zip(scenarios.map(\.name), medians))
  return Table(
    rows: scenarios.indices.map { index in
      let scenario = scenarios[index]
      return Table.Row(
        scenario: scenario, minimum: samples[index][0], median: medians[index],
        floor: scenario.comparedWith.flatMap { byName[$0] } ?? medians[0],
        above: scenario.above.flatMap { byName[$0] } ?? 0)
    }, countOfRounds: rounds.count, countOfQuiet: quiet.count)
}

/// One sample of each scenario, in turn.
private struct Round {
  private(set) var samples: [Double] = []
  /// The slowest of several probes taken during the round.
  private(set) var slowestProbe = 0.0

  init(_ scenarios: [Scenario], _ probe: Probe) {
    for (index, scenario) in scenarios.enumerated() {
      if index.isMultiple(of: 8) { slowestProbe = max(slowestProbe, probe.look()) }
      samples.append(sample(scenario))
    }
    slowestProbe = max(slowestProbe, probe.look())
  }
}

/// Detects whether other programs use the machine, by timing the floor on two threads, as many as some scenarios have.
private struct Probe: Sendable {
  private let objects = [Plain(), Plain()]
  private let floors: [Floor]

  init() { floors = objects.map { Floor($0) } }

  /// The nanoseconds of one floor.
  func look() -> Double {
    let count = 400_000
    return onThreads(2) { index in for _ in 0..<count { opaque(floors[index].load()) } } / Double(count)
  }
}

/// The rounds in which the floor never took a tenth longer than it does at best. Only the floor decides which rounds
/// are left out, so the choice favours no scenario.
private func undisturbed(_ rounds: [Round]) -> [Round] {
  let best = rounds.map(\.slowestProbe).min() ?? 0
  return rounds.filter { $0.slowestProbe <= best * 1.1 }
}

/// The nanoseconds of an operation.
private func sample(_ scenario: Scenario) -> Double {
  var (time, operations) = (0.0, 0)
  repeat {
    time += scenario.run()
    operations += scenario.operations
  } while time < 20_000_000
  return time / Double(operations)
}

func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

/// Shows two decimal places for small values.
func rounded(_ value: Double) -> String {
  let hundredths = Int((value * 100).rounded())
  guard value < 100 else { return "\(Int(value.rounded()))" }
  let fraction = hundredths % 100
  return fraction == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
}
