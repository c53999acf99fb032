/// Measures the library, and fails if a limit is exceeded.
///
/// Each time is divided by one that is taken in the same run: a floor, or the same work by hand. `Judgement` says when
/// it is which. Usage:
///
///     Compare            all scenarios, a table, exit status 1 where a limit is exceeded
///     Compare --quick    only what does not depend on the clock: allocations and memory
///     Compare WORD…      the scenarios whose names contain one of the words, and what they are divided by
import Glibc

let arguments = CommandLine.arguments.dropFirst()
let quick = arguments.contains("--quick")
let words = arguments.filter { !$0.hasPrefix("-") }
guard arguments.allSatisfy({ $0 == "--quick" || !$0.hasPrefix("-") }) else {
  print("usage: Compare [--quick] [WORD…]")
  exit(2)
}

parkSecondThread()
let plain = Plain()
let floor = Floor(plain)
let floorName = "floor: weak load under a lock"

func isWanted(_ scenario: Scenario) -> Bool { words.isEmpty || words.contains { scenario.name.contains($0) } }

var scenarios = [
  Scenario.loop(floorName, .printed, allocatesNothing: true) { count in for _ in 0..<count { opaque(floor.load()) } }
]
let groups = [
  lookupScenarios(plain), bigTreeScenarios(plain), chainScenarios(plain), changeScenarios(plain), siblingScenarios(),
  providerScenarios(plain), wrapperScenarios(plain), threadScenarios(plain),
]
let all = groups.flatMap { $0 }
let wanted = all.filter(isWanted)
scenarios += all.filter { scenario in
  isWanted(scenario) || wanted.contains { $0.judgement.base == scenario.name }
}

checkExpectations()
var failures: [String] = []

// What does not depend on the clock.
let allocationCounts = scenarios.map { allocations(of: $0) }
for (scenario, count) in zip(scenarios, allocationCounts) {
  guard let limit = scenario.mostAllocations, count > limit else { continue }
  failures.append("\(scenario.name): \(rounded(count)) allocations per operation")
}
let figures = words.isEmpty ? memoryFigures(plain) : []
for figure in figures where figure.bytes > figure.limit {
  failures.append("\(figure.name): \(Int(figure.bytes)) bytes, more than \(Int(figure.limit))")
}

if quick {
  let count = scenarios.count { $0.mostAllocations != nil }
  print("\(count) scenarios with a limit of allocations, \(figures.count) memory figures")
} else {
  let table = measure(scenarios)
  print(table.rendered(allocations: allocationCounts))
  failures += table.failures
}
for figure in figures {
  print("\(pad(figure.name, 56)) \(right("\(Int(figure.bytes.rounded()))", 7)) bytes, limit \(Int(figure.limit))")
}
for failure in failures { print("OVER THE LIMIT  \(failure)") }
checkExpectations()
precondition(floor.load() === plain, "the measured object must still be alive")
exit(failures.isEmpty ? 0 : 1)
