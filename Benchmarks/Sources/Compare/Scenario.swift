/// Something to measure.
struct Scenario {
  let name: String
  let judgement: Judgement
  /// How many operations one call of `run` makes: so few that it takes about a millisecond.
  let operations: Int
  /// How often an operation may allocate; nil where that is not checked. Quick mode checks this, too.
  let mostAllocations: Double?
  /// Runs the operations and returns the nanoseconds that they took, not counting preparation.
  let run: () -> Double

  init(
    _ name: String, _ judgement: Judgement, operations: Int, allocatesNothing: Bool = false,
    mostAllocations: Double? = nil, run: @escaping () -> Double
  ) {
    self.name = name
    self.judgement = judgement
    self.operations = operations
    self.mostAllocations = allocatesNothing ? 0 : mostAllocations
    self.run = run
  }

  /// A scenario whose operations need no preparation.
  static func loop(
    _ name: String, _ judgement: Judgement, operations: Int = 20_000, perCall: Int = 1, allocatesNothing: Bool = false,
    mostAllocations: Double? = nil, _ body: @escaping (Int) -> Void
  ) -> Scenario {
    Scenario(
      name, judgement, operations: operations * perCall, allocatesNothing: allocatesNothing,
      mostAllocations: mostAllocations
    ) {
      timed { body(operations) }
    }
  }
}

/// What a scenario is divided by, and the highest ratio that is allowed.
enum Judgement {
  /// By the floor. This is for lookups that allocate nothing, because they consist of what the floor consists of:
  /// atomic operations and other instructions. How fast these are relative to each other depends on the processor. A
  /// limit has to hold for a floor of 25 ns as well as for one of 71 ns.
  case againstFloor(Double)

  /// By the scenario with this name, which does the same work without the library, or on one thread. This is for what
  /// allocates, because memory and atomic operations do not become faster together.
  case against(String, Double)

  /// By the floor, without a limit: a base for other scenarios, or a figure that depends on the processor.
  case printed

  /// The name of the scenario by which this one is divided; nil for the floor.
  var base: String? {
    if case .against(let name, _) = self { name } else { nil }
  }

  var limit: Double? {
    switch self {
    case .againstFloor(let limit), .against(_, let limit): limit
    case .printed: nil
    }
  }
}
