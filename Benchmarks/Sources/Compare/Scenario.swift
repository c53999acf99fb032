/// Something to measure, and its limit relative to the floor.
struct Scenario {
  let name: String
  /// The highest allowed ratio to the floor; nil if there is no limit.
  let limit: Double?
  /// How many operations one call of `run` makes.
  let operations: Int
  /// The name of the scenario with which this one is compared; nil for the floor.
  let comparedWith: String?
  /// The name of a scenario whose time is subtracted, because the caller would have spent it anyway.
  let above: String?
  /// How often an operation may allocate; nil where that is not checked. Quick mode checks this, too.
  let mostAllocations: Double?
  /// Runs the operations and returns the nanoseconds that they took, not counting preparation.
  let run: () -> Double

  init(
    _ name: String, limit: Double?, operations: Int, comparedWith: String? = nil, above: String? = nil,
    allocatesNothing: Bool = false, mostAllocations: Double? = nil,
    run: @escaping () -> Double
  ) {
    self.name = name
    self.limit = limit
    self.operations = operations
    self.comparedWith = comparedWith
    self.above = above
    self.mostAllocations = allocatesNothing ? 0 : mostAllocations
    self.run = run
  }

  /// A scenario whose operations need no preparation.
  static func loop(
    _ name: String, limit: Double?, operations: Int = 20_000, perCall: Int = 1, comparedWith: String? = nil,
    above: String? = nil, allocatesNothing: Bool = false, mostAllocations: Double? = nil,
    _ body: @escaping (Int) -> Void
  ) -> Scenario {
    Scenario(
      name, limit: limit, operations: operations * perCall, comparedWith: comparedWith, above: above,
      allocatesNothing: allocatesNothing, mostAllocations: mostAllocations
    ) {
      timed { body(operations) }
    }
  }
}
