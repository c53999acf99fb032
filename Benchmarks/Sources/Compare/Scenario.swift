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
  /// Whether an operation must not allocate. Quick mode checks this, too.
  let allocatesNothing: Bool
  /// Runs the operations and returns the nanoseconds that they took, not counting preparation.
  let run: () -> Double

  init(
    _ name: String, limit: Double?, operations: Int, comparedWith: String? = nil, above: String? = nil,
    allocatesNothing: Bool = false, run: @escaping () -> Double
  ) {
    self.name = name
    self.limit = limit
    self.operations = operations
    self.comparedWith = comparedWith
    self.above = above
    self.allocatesNothing = allocatesNothing
    self.run = run
  }

  /// A scenario whose operations need no preparation.
  static func loop(
    _ name: String, limit: Double?, operations: Int = 20_000, perCall: Int = 1, comparedWith: String? = nil,
    above: String? = nil, allocatesNothing: Bool = false, _ body: @escaping (Int) -> Void
  ) -> Scenario {
    Scenario(
      name, limit: limit, operations: operations * perCall, comparedWith: comparedWith, above: above,
      allocatesNothing: allocatesNothing
    ) {
      timed { body(operations) }
    }
  }
}
