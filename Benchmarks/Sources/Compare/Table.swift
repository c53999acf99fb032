/// What all scenarios took.
struct Table {
  struct Row {
    let scenario: Scenario
    let nanoseconds: Double
    let floor: Double
    /// The time that is subtracted; see `Scenario.above`.
    let above: Double
    var ratio: Double { (nanoseconds - above) / floor }
    var isOver: Bool { scenario.limit.map { ratio > $0 } ?? false }
  }

  let rows: [Row]

  var failures: [String] {
    rows.filter(\.isOver).map {
      "\($0.scenario.name): \(rounded($0.ratio)), more than \(rounded($0.scenario.limit ?? 0))"
    }
  }

  func rendered(allocations: [Double]) -> String {
    let head =
      pad("scenario", 56) + ["ns", "floor", "ratio", "limit", "allocs"].map { right($0, 9) }.joined()
    let lines = zip(rows, allocations).map { row, count in
      pad(row.scenario.name, 56)
        + [
          rounded(row.nanoseconds), rounded(row.floor), rounded(row.ratio),
          row.scenario.limit.map(rounded) ?? "", rounded(count),
        ].map { right($0, 9) }.joined()
    }
    return ([head] + lines).joined(separator: "\n")
  }
}

/// Measures all scenarios in turn, 30 times, so that noise affects all of them alike.
func measure(_ scenarios: [Scenario]) -> Table {
  let rounds = (0..<30).map { _ in scenarios.map(sample) }
  let medians = scenarios.indices.map { index in rounds.map { $0[index] }.sorted()[rounds.count / 2] }
  let byName = Dictionary(uniqueKeysWithValues: zip(scenarios.map(\.name), medians))
  return Table(
    rows: zip(scenarios, medians).map { scenario, median in
      Table.Row(
        scenario: scenario, nanoseconds: median,
        floor: scenario.comparedWith.flatMap { byName[$0] } ?? medians[0],
        above: scenario.above.flatMap { byName[$0] } ?? 0)
    })
}

/// The nanoseconds of an operation in the fastest of several runs. There are so many that they take 10 ms together if
/// nothing interrupts them. Most runs are so short that another program seldom interrupts all of them.
private func sample(_ scenario: Scenario) -> Double {
  var (runs, fastest) = (0.0, Double.infinity)
  repeat {
    fastest = min(fastest, scenario.run())
    runs += 1
  } while runs * fastest < 10_000_000
  return fastest / Double(scenario.operations)
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
