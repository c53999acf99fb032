/// Something to measure, and how it may relate to the floor.
struct Scenario {
  let name: String
  /// At most this many times the floor; nil where there is nothing to compare with.
  let limit: Double?
  /// How many operations one call of `run` makes.
  let operations: Int
  /// What the scenario is compared with, another scenario's name; nil for the floor.
  let comparedWith: String?
  /// Another scenario whose time does not count, because the caller would have spent it anyway.
  let above: String?
  /// Whether an operation must not allocate: checked in quick mode, too.
  let allocatesNothing: Bool
  /// Makes the operations and returns the nanoseconds they took, without what it does to prepare them.
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
