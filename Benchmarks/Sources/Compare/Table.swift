/// Samples of all scenarios, taken in turn.
struct Table {
  struct Row {
    let scenario: Scenario
    let minimum: Double
    let median: Double
    let floor: Double
    /// What does not count, see `Scenario.above`.
    let above: Double
    var ratio: Double { (median - above) / floor }
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
      pad("scenario", 56) + ["min ns", "median", "floor", "ratio", "limit", "allocs"].map { right($0, 9) }.joined()
    let lines = zip(rows, allocations).map { row, count in
      pad(row.scenario.name, 56)
        + [
          rounded(row.minimum), rounded(row.median), rounded(row.floor), rounded(row.ratio),
          row.scenario.limit.map(rounded) ?? "", rounded(count),
        ].map { right($0, 9) }.joined()
    }
    return ([head] + lines).joined(separator: "\n")
  }
}

/// Takes 15 samples of each scenario, each of at least 20 ms.
func measure(_ scenarios: [Scenario]) -> Table {
  let (rounds, sampleTime) = (15, 20_000_000.0)
  var samples = [[Double]](repeating: [], count: scenarios.count)
  for _ in 0..<rounds {
    for (index, scenario) in scenarios.enumerated() {
      var (time, operations) = (0.0, 0)
      repeat {
        time += scenario.run()
        operations += scenario.operations
      } while time < sampleTime
      samples[index].append(time / Double(operations))
    }
  }
  let medians = samples.map { $0.sorted()[rounds / 2] }
  let byName = Dictionary(uniqueKeysWithValues: zip(scenarios.map(\.name), medians))
  return Table(
    rows: scenarios.indices.map { index in
      let scenario = scenarios[index]
      return Table.Row(
        scenario: scenario, minimum: samples[index].min() ?? 0, median: medians[index],
        floor: scenario.comparedWith.flatMap { byName[$0] } ?? medians[0],
        above: scenario.above.flatMap { byName[$0] } ?? 0)
    })
}

func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

/// Two places where they matter.
func rounded(_ value: Double) -> String {
  let hundredths = Int((value * 100).rounded())
  guard value < 100 else { return "\(Int(value.rounded()))" }
  let fraction = hundredths % 100
  return fraction == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
}
