import Testing
import UDI

@Suite struct ArgumentTests {
  let context = UDIContext(tag: "context")

  @Test func oneTwoAndThreeArguments() throws {
    context.register((any Alpha).self) { (_, number: Int) in Made("\(number)") }
    context.register((any Beta).self) { (_, number: Int, text: String) in Made("\(number) \(text)") }
    context.register((any Gamma).self) { (context, number: Int, text: String, isLast: Bool) in
      Made("\(context.tag) \(number) \(text) \(isLast)")
    }
    #expect((context.link((any Alpha).self, with: 5) as? Made)?.label == "5")
    #expect((context.link((any Beta).self, with: 5, "x") as? Made)?.label == "5 x")
    #expect((try context.require((any Gamma).self, with: 5, "x", true) as? Made)?.label == "context 5 x true")
    let member = Member().attached(to: context)
    #expect((member.link((any Beta).self, with: 6, "y") as? Made)?.label == "6 y")
    #expect((try member.require((any Alpha).self, with: 7) as? Made)?.label == "7")
    #expect((context.link((any Alpha).self, fresh: true, with: 8) as? Made)?.label == "8")
  }

  /// What the context's default lifetime is makes no difference.
  @Test(arguments: [nil, UDILifetime.context, .scope, .weak, .graph])
  func withoutALifetimeEachLookupMakesAnother(_ standard: UDILifetime?) async throws {
    if let standard { context.defaultLifetime = standard }
    let lifetimes = [
      context.register((any Alpha).self) { (_, number: Int) in Made("\(number)") }.lifetime,
      context.register((any Beta).self) { (_, number: Int) async in Made("\(number)") }.lifetime,
    ]
    #expect(lifetimes == [.unique, .unique])
    #expect(try context.require((any Alpha).self, with: 1) !== context.require((any Alpha).self, with: 1))
    #expect(try await context.obtain((any Beta).self, with: 1) !== context.obtain((any Beta).self, with: 1))
    // One that is named counts.
    context.register((any Gamma).self, lifetime: .context) { (_, number: Int) in Made("\(number)") }
    #expect(try context.require((any Gamma).self, with: 1) === context.require((any Gamma).self, with: 1))
  }

  @Test func oneInstanceForEachSetOfArguments() {
    for lifetime in [UDILifetime.context, .weak, UDILifetime("own")] {
      let name = UDIName(lifetime.name)
      let census = Census()
      context.register((any Alpha).self, named: name, lifetime: lifetime) { (_, number: Int, text: String) in
        Made("\(number) \(text)", census)
      }
      let first = context.link((any Alpha).self, named: name, with: 1, "a")
      let other = context.link((any Alpha).self, named: name, with: 2, "a")
      #expect(first !== other && census.everBorn == 2)
      #expect(context.link((any Alpha).self, named: name, with: 1, "a") === first)
      #expect(context.link((any Alpha).self, named: name, with: 2, "a") === other)
      context.reset()
      #expect(context.link((any Alpha).self, named: name, with: 1, "a") !== first)
    }
  }

  @Test func theGraphSharesByArguments() throws {
    context.register((any Gamma).self, lifetime: .graph) { (_, number: Int) in Made("\(number)") }
    context.register((any Alpha).self, lifetime: .unique) { context in
      Made(
        parts: [
          try context.require((any Gamma).self, with: 1), try context.require((any Gamma).self, with: 2),
          try context.require((any Gamma).self, with: 1),
        ])
    }
    let parts = try #require(context.link((any Alpha).self) as? Made).parts.compactMap { $0 as? Made }
    #expect(parts[0] === parts[2] && parts[0] !== parts[1])
  }

  @Test func manySetsOfArgumentsLeaveNothingUnderWeak() {
    let census = Census()
    context.register((any Alpha).self, lifetime: .weak) { (_, number: Int) in Made("\(number)", census) }
    for number in 0..<5_000 { _ = context.link((any Alpha).self, with: number) }
    #expect(census.everBorn == 5_000 && census.alive == 0)
  }

  /// Any two have different numbers, but there are only eight hashes.
  struct Bucket: Hashable, Sendable {
    let number: Int
    let witness: Made
    static func == (left: Bucket, right: Bucket) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number % 8) }
  }

  @Test func argumentsWithEqualHashesAreLetGoOfUnderWeak() {
    let census = Census()
    context.register((any Alpha).self, lifetime: .weak) { (_, bucket: Bucket) in Made("\(bucket.number)") }
    for number in 0..<2_000 {
      _ = context.link((any Alpha).self, with: Bucket(number: number, witness: Made("", census)))
    }
    #expect(census.everBorn == 2_000 && census.alive < 200)
  }

  /// What is kept for others with the same hash stays, also if they came before and after.
  @Test(arguments: [UDILifetime.context, .weak, UDILifetime("own")])
  func anInstanceStaysIfThatOfEqualHashesCannotBeMade(_ lifetime: UDILifetime) {
    let (witness, later) = (Made(), Locked<(any Alpha)?>(nil))
    context.register((any Alpha).self, lifetime: lifetime) { (context, bucket: Bucket) -> (any Alpha)? in
      guard bucket.number == 9 else { return Made("\(bucket.number)") }
      let found = context.link((any Alpha).self, with: Bucket(number: 17, witness: witness))
      later.withLock { $0 = found }
      return nil
    }
    func link(_ number: Int) -> (any Alpha)? {
      context.link((any Alpha).self, with: Bucket(number: number, witness: witness))
    }
    let first = link(1)
    #expect(first != nil && link(9) == nil)
    #expect(link(1) === first && link(17) === later.withLock { $0 })
  }

  @Test func argumentsWithEqualHashesAreDifferentInAGraph() throws {
    let witness = Made()
    context.register((any Beta).self, lifetime: .graph) { (_, bucket: Bucket) in Made("\(bucket.number)") }
    context.register((any Alpha).self, lifetime: .unique) { context in
      let parts = try [1, 9, 1].map { try context.require((any Beta).self, with: Bucket(number: $0, witness: witness)) }
      return Made("a", parts: parts)
    }
    let parts = try #require(context.link((any Alpha).self) as? Made).parts.map { $0 as? Made }
    #expect(parts.map { $0?.label } == ["1", "9", "1"] && parts[0] === parts[2])
  }

  /// All of them have the same hash, so only `==` distinguishes them, and `==` links.
  struct Clumsy: Hashable, Sendable {
    let number: Int
    let context: UDIContext
    static func == (left: Clumsy, right: Clumsy) -> Bool {
      _ = left.context.link((any Service).self)
      return left.number == right.number
    }
    func hash(into hasher: inout Hasher) {}
  }

  @Test func argumentsAreComparedWithNoLockHeld() {
    context.register((any Alpha).self, lifetime: .context) { (_, clumsy: Clumsy) in Made("\(clumsy.number)") }
    let linked = (0..<20).map { context.link((any Alpha).self, with: Clumsy(number: $0, context: context)) as? Made }
    #expect(linked.compactMap { $0?.label } == (0..<20).map { "\($0)" })
    #expect(context.link((any Alpha).self, with: Clumsy(number: 7, context: context)) === linked[7])
  }

  @Test func argumentsAreCastOneByOne() {
    context.register((any Alpha).self) { (_, service: any Service) in Made("served", parts: [service]) }
    let plain = Plain()
    #expect(((context.link((any Alpha).self, with: plain) as? Made)?.parts.first as? Plain) === plain)
  }

  @Test func optionalsArriveAsTheyAre() {
    context.register((any Alpha).self) { (_, number: Int?) in Made("\(number as Any)") }
    let numbers: [Int?] = [5, nil]
    #expect(numbers.map { (context.link((any Alpha).self, with: $0) as? Made)?.label } == ["Optional(5)", "nil"])
    #expect((context.link((any Alpha).self, with: 5) as? Made)?.label == "Optional(5)")
  }

  @Test func anOptionalIsTheSameArgumentAsWhatItWraps() {
    let (plain, optional, nested, none): (Int, Int?, Int??, Int?) = (5, 5, 5, nil)
    context.register((any Alpha).self, lifetime: .context) { (_, number: Int) in Made("\(number)") }
    let alpha = context.link((any Alpha).self, with: optional)
    #expect((alpha as? Made)?.label == "5" && alpha === context.link((any Alpha).self, with: plain))
    #expect(alpha === context.link((any Alpha).self, with: nested))
    context.register((any Beta).self, lifetime: .context) { (_, number: Int?) in Made("\(number as Any)") }
    let beta = context.link((any Beta).self, with: plain)
    #expect((beta as? Made)?.label == "Optional(5)" && beta === context.link((any Beta).self, with: optional))
    #expect(beta === context.link((any Beta).self, with: nested))
    let other = context.link((any Beta).self, with: none)
    #expect((other as? Made)?.label == "nil" && other === context.link((any Beta).self, with: none))
    context.register((any Gamma).self, lifetime: .context) { (_, number: Int, text: String?) in Made("\(number)") }
    let gamma = context.link((any Gamma).self, with: plain, "a")
    #expect(gamma != nil && gamma === context.link((any Gamma).self, with: optional, Optional("a")))
    #expect(gamma !== context.link((any Gamma).self, with: optional, String?.none))
  }

  @Test func severalArgumentsAreNoTuple() {
    context.register((any Alpha).self) { (_, pair: (Int, String)) in Made("\(pair.0) \(pair.1)") }
    #expect((context.link((any Alpha).self, with: (1, "a")) as? Made)?.label == "1 a")
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, with: 1, "a") }
    #expect(
      error?.cause
        == .otherArguments(wanted: ["(Swift.Int, Swift.String)"], given: ["Swift.Int", "Swift.String"]))
  }

  @Test func argumentsAreLetGoOfWithTheLink() async throws {
    let census = Census()
    context.register((any Alpha).self) { (_, part: Made) in Made() }
    context.register((any Beta).self) { (_, part: any Sendable) in
      Made()
    }.onCreate { _, _ in
      #expect(census.alive == 1)
    }
    context.register((any Gamma).self) { (_, _: Made) -> Made in throw OutOfOrder() }
    #expect(context.link((any Alpha).self, with: Made("", census)) != nil && census.alive == 0)
    #expect(context.link((any Beta).self, with: Made("", census)) != nil && census.alive == 0)
    #expect(try await context.obtain((any Beta).self, with: Made("", census)) is Made && census.alive == 0)
    #expect(throws: OutOfOrder.self) { try context.require((any Gamma).self, with: Made("", census)) }
    #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, with: Made("", census), 2) }
    #expect(census.alive == 0 && census.everBorn == 5)
  }

  @Test(arguments: [UDILifetime.context, .weak, UDILifetime("own")])
  func argumentsAreLetGoOfWithAReset(_ lifetime: UDILifetime) {
    context.register((any Alpha).self, lifetime: lifetime) { (_, _: UDIContext) in Made() }
    weak var argument: UDIContext?
    do {
      let other = UDIContext(tag: "argument")
      argument = other
      let made = context.link((any Alpha).self, with: other)
      #expect(made != nil && made === context.link((any Alpha).self, with: other))
    }
    context.reset()
    #expect(argument == nil)
    let other = UDIContext(tag: "argument")
    let made = context.link((any Alpha).self, with: other)
    #expect(made != nil && made === context.link((any Alpha).self, with: other))
  }

  @Test func argumentsAreLetGoOfAfterAFailure() {
    let runs = Tally()
    context.register((any Alpha).self, lifetime: .context) { (_, _: UDIContext) in
      runs.add()
      if runs.count == 1 { throw OutOfOrder() }
      return runs.count == 2 ? nil : Made()
    }
    weak var argument: UDIContext?
    do {
      let other = UDIContext(tag: "argument")
      argument = other
      #expect(throws: OutOfOrder.self) { try context.require((any Alpha).self, with: other) }
      #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, with: other) }
    }
    #expect(argument == nil)
    let other = UDIContext(tag: "argument")
    let made = context.link((any Alpha).self, with: other)
    #expect(made != nil && made === context.link((any Alpha).self, with: other) && runs.count == 3)
  }

  @Test func otherArgumentsAreAMissThatSaysWhichWereWanted() {
    let line = #line + 1
    context.register((any Alpha).self, lifetime: .context) { (_, number: Int) in Made("\(number)") }
    let (linked, misuse) = MisuseLog.during {
      [
        context.link((any Alpha).self, with: "text"), context.link((any Alpha).self, with: 1, 2),
        context.link((any Alpha).self),
      ]
    }
    #expect(linked.allSatisfy { $0 == nil })
    #expect(misuse.map(\.line) == [line, line, line])
    #expect(misuse.allSatisfy { $0.message.contains("wants (Swift.Int) and got ") })
    context.register((any Beta).self, lifetime: .context) { Made() }
    _ = context.link((any Beta).self)
    let error = #expect(throws: UDILinkError.self) { try context.require((any Beta).self, with: 5) }
    #expect(error?.cause == .otherArguments(wanted: [], given: ["Swift.Int"]))
  }

  @Test func aBindingNeedsNoArguments() {
    context.register((any Alpha).self) { (_, number: Int) in Made("\(number)") }
    let bound = Made("bound")
    context.bind(bound, as: (any Alpha).self)
    #expect(context.link((any Alpha).self, with: 5) === bound)
  }

  @Test func onCreateGetsContextAndInstance() {
    let journal = Journal()
    context.register((any Alpha).self) { (_, number: Int, text: String) in
      Made("\(number) \(text)")
    }.onCreate { context, alpha in
      journal.add("\(context.tag) \((alpha as? Made)?.label ?? "")")
    }
    _ = context.link((any Alpha).self, with: 5, "x")
    #expect(journal.all == ["context 5 x"])
  }

  struct Opaque: Sendable {}

  @Test func keptInstancesTakeHashableArguments() async throws {
    context.register((any Alpha).self, lifetime: .context) { (_, _: Opaque) in Made() }
    context.register((any Beta).self) { (_, _: Opaque) in Made() }
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, with: Opaque()) }
    #expect(error?.cause == .argumentsNotHashable(["UDITests.ArgumentTests.Opaque"]))
    #expect(error?.description.contains("cannot be compared.\nMake them Hashable") == true)
    #expect(context.link((any Beta).self, with: Opaque()) != nil)
    context.register(Made.self, lifetime: .unique) { (_, _: Opaque) async in Made() }
    #expect(try await context.obtain(Made.self, with: Opaque()) !== context.obtain(Made.self, with: Opaque()))
    // An instance that takes no arguments is not given, either.
    context.register((any Gamma).self) { Made() }
    let kept = context.link((any Gamma).self)
    let other = #expect(throws: UDILinkError.self) { try context.require((any Gamma).self, with: Opaque()) }
    #expect(other?.cause == .otherArguments(wanted: [], given: ["UDITests.ArgumentTests.Opaque"]))
    withExtendedLifetime(kept) {}
  }

  @Test func argumentsOfAnyTypeArriveAsTheyAre() {
    context.register((any Alpha).self, lifetime: .context) { (_, value: any Hashable & Sendable) in
      Made("\(type(of: value as Any))")
    }
    #expect((context.link((any Alpha).self, with: 1) as? Made)?.label == "Int")
    #expect((context.link((any Alpha).self, with: 1.0) as? Made)?.label == "Double")
  }

  /// `AnyHashable` itself finds 1 and 1.0 equal.
  @Test @MainActor func equalArgumentsOfOtherTypesAreOthers() {
    context.register((any Alpha).self, lifetime: .context) { (_, value: AnyHashable) in
      Made("\(type(of: value.base))")
    }
    let integer = context.link((any Alpha).self, with: AnyHashable(1)) as? Made
    let double = context.link((any Alpha).self, with: AnyHashable(1.0)) as? Made
    #expect(integer?.label == "Int" && double?.label == "Double")
    #expect(context.link((any Alpha).self, with: AnyHashable(1)) === integer)
    #expect(context.link((any Alpha).self, with: AnyHashable(1.0)) === double)
  }

  /// Of a class and its subclass, with one `==`.
  class Number: Hashable, @unchecked Sendable {  // Unchecked: nothing in it changes.
    let number: Int
    init(_ number: Int) { self.number = number }
    static func == (left: Number, right: Number) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }
  final class NamedNumber: Number, @unchecked Sendable {}

  @Test func argumentsAreComparedByTheClassThatTheyAreOf() {
    context.register((any Alpha).self, lifetime: .context) { (_, number: Number) in Made("\(type(of: number))") }
    let (plain, named) = (context.link((any Alpha).self, with: Number(1)), Number(1) as Number)
    let other = context.link((any Alpha).self, with: NamedNumber(1) as Number)
    #expect((plain as? Made)?.label == "Number" && (other as? Made)?.label == "NamedNumber")
    #expect(context.link((any Alpha).self, with: named) === plain)
    #expect(context.link((any Alpha).self, with: NamedNumber(1)) === other)
  }

  /// Their `==` links from the same provider.
  struct Nosy: Hashable, Sendable {
    let number: Int
    let context: UDIContext
    static func == (left: Nosy, right: Nosy) -> Bool {
      if left.number > 0 {
        _ = left.context.link((any Gamma).self, with: Nosy(number: left.number - 1, context: left.context))
      }
      return left.number == right.number
    }
    func hash(into hasher: inout Hasher) {}
  }

  @Test func theGraphComparesArgumentsWithNothingOpen() {
    context.register((any Gamma).self, lifetime: .graph) { (_, nosy: Nosy) in Made("\(nosy.number)") }
    context.register((any Alpha).self, lifetime: .unique) { context in
      Made(parts: (0..<4).map { context.link((any Gamma).self, with: Nosy(number: $0, context: context)) })
    }
    #expect((context.link((any Alpha).self) as? Made)?.parts.count == 4)
  }

  /// The first call of their `==` does something.
  struct Disturbing: Hashable, Sendable {
    let number: Int
    let disturbance: Locked<(@Sendable () -> Void)?>
    static func == (left: Disturbing, right: Disturbing) -> Bool {
      left.disturbance.withLock { $0.take() }?()
      return left.number == right.number
    }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  /// While arguments are compared, the provider removes the caches that keep nothing any more, and with them the one
  /// that was just found for these arguments.
  @Test func oneInstanceAlsoIfItsPlaceIsLetGoOfMeanwhile() {
    let disturbance = Locked<(@Sendable () -> Void)?>(nil)
    let context = context
    context.register((any Alpha).self, lifetime: .weak) { (_, argument: Disturbing) in Made("\(argument.number)") }
    func link(_ number: Int) -> (any Alpha)? {
      context.link((any Alpha).self, with: Disturbing(number: number, disturbance: disturbance))
    }
    _ = link(0)
    disturbance.withLock {
      $0 = {
        for number in 1..<100 {
          _ = context.link((any Alpha).self, with: Disturbing(number: number, disturbance: disturbance))
        }
      }
    }
    let (first, second) = (link(0), link(0))
    #expect(disturbance.withLock { $0 == nil }, "it was compared")
    #expect(first != nil && first === second)
  }
}
