import Dispatch
import Testing

@testable import UDI

/// Names made from values that belong to the main actor.
@Suite struct MainActorNameTests {
  /// Not `Sendable`. Notes which of its methods are called, and where it dies.
  final class Color: Hashable, CustomStringConvertible {
    let shade: Int
    let calls: Tally
    let onDeath: (@Sendable (Bool) -> Void)?

    init(_ shade: Int, _ calls: Tally = Tally(), onDeath: (@Sendable (_ isOnMainActor: Bool) -> Void)? = nil) {
      self.shade = shade
      self.calls = calls
      self.onDeath = onDeath
    }

    deinit { onDeath?(MainActorCheck.isOnMainActor) }

    var description: String {
      calls.add()
      return "shade\n\(shade)"
    }

    static func == (left: Color, right: Color) -> Bool {
      left.calls.add()
      right.calls.add()
      return left.shade == right.shade
    }

    /// Ten values share a hash. No test uses another test's values, because tests run at the same time, and values with
    /// equal hashes are compared.
    func hash(into hasher: inout Hasher) {
      calls.add()
      hasher.combine(shade / 10)
    }
  }

  /// Equal to all values of its kind, but of another type.
  final class Sound: Hashable {
    static func == (left: Sound, right: Sound) -> Bool { true }
    func hash(into hasher: inout Hasher) { hasher.combine(0) }
  }

  @MainActor @Test func equalValuesOfOneTypeAreOneName() {
    let (red, red2, blue) = (UDIName(Color(1)), UDIName(Color(1)), UDIName(Color(2)))
    #expect(red == red2 && red.hashValue == red2.hashValue && red != blue)
    #expect(UDIName(Sound()) == UDIName(Sound()) && UDIName(Sound()) != red)
    let context = UDIContext(tag: "context")
    let (first, second) = (Plain(), Plain())
    context.bind(first, as: (any Service).self, named: red)
    context.bind(second, as: (any Service).self, named: blue)
    #expect(context.link((any Service).self, named: UDIName(Color(1))) === first)
    #expect(context.link((any Service).self, named: UDIName(Color(2))) === second)
    #expect(context.link((any Service).self, named: UDIName(Color(3))) == nil)
    #expect(red.description == oneLine("shade\n1"))
  }

  @MainActor @Test func theOtherInitialiserMakesTheSameNameOfTextsAndIntegers() {
    func make<Value: Hashable>(_ value: Value) -> UDIName { UDIName(value) }
    #expect(make("x") == UDIName("x") && make(1) == UDIName(1))
    #expect(make(UInt8(1)) == make(UInt8(1)) && make(UInt8(1)) != UDIName(UInt8(1)))
    #expect(make(Double.nan) != make(Double.nan))
  }

  /// Whatever is done with a name elsewhere, its value is not used.
  @MainActor @Test func nothingIsCalledAfterwards() async {
    let calls = Tally()
    let (name, equal, other) = (UDIName(Color(11, calls)), UDIName(Color(11, calls)), UDIName(Color(12, calls)))
    let before = calls.count
    #expect(before > 0)
    await Task.detached {
      let context = UDIContext(tag: "context")
      let service = Plain()
      context.bind(service, as: (any Service).self, named: name)
      #expect(context.link((any Service).self, named: equal) === service)
      #expect(context.link((any Service).self, named: other) == nil)
      #expect(context.linkAll((any Service).self).count == 1)
      #expect(Swift.Set([name, equal, other]).count == 2 && name != other && "\(name)" == "\(equal)")
      _ = context.explain((any Service).self, named: other).description
      context.unbind((any Service).self, named: equal)
      #expect(boundHere(context).isEmpty)
    }.value
    #expect(calls.count == before)
  }

  /// The last name with this value dies elsewhere.
  @Test func theValueIsReleasedOnTheMainActor() async {
    for shade in 0..<20 {
      let isOnMainActor = await withCheckedContinuation { continuation in
        Task.detached {
          let name = Locked<UDIName?>(await Self.makeName(100 + shade) { continuation.resume(returning: $0) })
          #expect(!MainActorCheck.isOnMainActor)
          name.withLock { $0 = nil }
        }
      }
      #expect(isOnMainActor)
    }
  }

  @MainActor private static func makeName(_ shade: Int, _ onDeath: @escaping @Sendable (Bool) -> Void) -> UDIName {
    UDIName(Color(shade, onDeath: onDeath))
  }

  /// Values that nobody uses any more leave nothing in the table.
  @MainActor @Test func namesLeaveNothingBehind() {
    final class Number: Hashable {
      let value: Int
      init(_ value: Int) { self.value = value }
      static func == (left: Number, right: Number) -> Bool { left.value == right.value }
      func hash(into hasher: inout Hasher) { hasher.combine("MainActorNameTests.namesLeaveNothingBehind") }
    }
    let digest = NameBox(Number(0)).hashValue
    #expect(NameToken.table.candidates(digest).count == 0)
    var names = (0..<100).map { UDIName(Number($0 % 10)) }
    #expect(NameToken.table.candidates(digest).count == 10)
    names.removeLast(95)
    #expect(NameToken.table.candidates(digest).count == 5)
    names = []
    #expect(NameToken.table.candidates(digest).count == 0)
  }

  /// While values are compared, another name may be made from an equal value. Then the library uses that name.
  @MainActor @Test func aComparisonMayMakeTheSameName() {
    final class Vain: Hashable {
      let value: Int
      init(_ value: Int) { self.value = value }
      static func == (left: Vain, right: Vain) -> Bool {
        if right.value == 2 {
          MainActor.assumeIsolated {
            guard twin == nil else { return }
            twin = "is being made"
            twin = UDIName(Vain(2))
          }
        }
        return left.value == right.value
      }
      func hash(into hasher: inout Hasher) { hasher.combine("MainActorNameTests.aComparisonMayMakeTheSameName") }
      @MainActor static var twin: UDIName?
    }
    let first = UDIName(Vain(1))
    let second = UDIName(Vain(2))
    #expect(first != second && Vain.twin == second)
    Vain.twin = nil
  }

  /// A comparison may make names, because no lock is held. The names that it adds are compared, too.
  @MainActor @Test func aComparisonMayMakeNames() {
    final class Vain: Hashable {
      let value: Int
      init(_ value: Int) { self.value = value }
      static func == (left: Vain, right: Vain) -> Bool {
        if right.value < 10 {
          MainActor.assumeIsolated { made.append(UDIName(Vain(10))) }
        }
        return left.value == right.value
      }
      func hash(into hasher: inout Hasher) { hasher.combine("MainActorNameTests.aComparisonMayMakeNames") }
      @MainActor static var made: [UDIName] = []
    }
    let first = UDIName(Vain(1))
    let second = UDIName(Vain(2))
    #expect(first != second && !Vain.made.isEmpty && Vain.made.allSatisfy { $0 == Vain.made[0] && $0 != second })
    Vain.made = []
  }
}
