/// What all scenarios took, and what they are divided by.
struct Table {
  struct Row {
    let scenario: Scenario
    let nanoseconds: Double
    /// The nanoseconds of what the scenario is divided by.
    let base: Double
    var ratio: Double { nanoseconds / base }
    var isOver: Bool { scenario.judgement.limit.map { ratio > $0 } ?? false }
  }

  let rows: [Row]

  var failures: [String] {
    rows.filter(\.isOver).map {
      "\($0.scenario.name): \(rounded($0.ratio)), more than \(rounded($0.scenario.judgement.limit ?? 0))"
    }
  }

  func rendered(allocations: [Double]) -> String {
    let head =
      pad("scenario", 56) + ["ns", "ratio", "limit", "allocs"].map { right($0, 9) }.joined() + "  divided by"
    let lines = zip(rows, allocations).map { row, count in
      pad(row.scenario.name, 56)
        + [
          rounded(row.nanoseconds), rounded(row.ratio), row.scenario.judgement.limit.map(rounded) ?? "", rounded(count),
        ].map { right($0, 9) }.joined() + "  " + (row.scenario.judgement.base ?? "the floor")
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
      guard let base = byName[scenario.judgement.base ?? floorName] else {
        fatalError("\(scenario.name): there is no scenario that it could be divided by")
      }
      return Table.Row(scenario: scenario, nanoseconds: median, base: base)
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
