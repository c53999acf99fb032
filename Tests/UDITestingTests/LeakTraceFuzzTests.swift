import Testing
import UDITesting

/// Closures of random shapes: an object is found through them exactly if they hold it.
struct LeakTraceFuzzTests {
  @Test("Through closures of random shapes, what is held is found, and what is not held is not", arguments: 0..<20)
  func randomShapes(seed: UInt64) {
    var shapes = Shapes(seed: seed &+ 4096)
    for round in 0..<150 {
      let target = Target()
      let holder = Holder()
      let (closure, isHeld) = shapes.closure(target, depth: 4)
      holder.closure = closure
      if round.isMultiple(of: 3) { holder.more = [0: .some(closure)] }
      var traces = LeakTraces(to: [target], from: [holder])
      let trace = traces.trace(of: target)
      #expect((trace != nil) == isHeld, "seed \(seed), round \(round): \(shapes.log), \(trace ?? "no trace")")
      if trace != nil { #expect(trace?.hasPrefix("Holder.closure") == true && trace?.hasSuffix("→ Target") == true) }
      shapes.log = []
      holder.closure()
    }
  }

  @Test("What the runtime cannot say much about is left alone")
  func unknown() {
    let target = Target()
    let holder = Holder()
    holder.closure = packed(1, target, "s")
    _ = LeakTraces(to: [target], from: [holder])
    // The runtime has no type for a captured tuple with a function in it.
    holder.closure = { [pair = (1, closure: { target.tick() })] in use(pair) }
    _ = LeakTraces(to: [target], from: [holder])
    // What is not held, but has been freed.
    do {
      let other = Target()
      holder.closure = { [unowned other] in _ = other }
    }
    let dangling = Dangling()
    var more = LeakTraces(to: [target], from: [holder, dangling])
    #expect(more.trace(of: target) == nil)
  }

  /// Captures a parameter pack.
  private func packed<each Value>(_ values: repeat each Value) -> () -> Void {
    { repeat use(each values) }
  }
}

private final class Target: Named {
  var count = 0
  func tick() { count += 1 }
  func add(_ number: Int) { count += number }
}

private final class Holder {
  var closure: () -> Void = {}
  var more: [Int: (() -> Void)?] = [:]
}

/// Its `unowned` property refers to an object that is gone. Reading it would stop the program.
private final class Dangling {
  unowned var target: Target
  unowned var other: Target?
  init() {
    let freed = Target()
    (target, other) = (freed, freed)
  }
}

private protocol Named { func tick() }
private protocol NamedObject: AnyObject { func tick() }
extension Target: NamedObject {}

private struct Strong: Named {
  let small = Int8(1)
  let target: Target
  let number = 2
  func tick() { target.tick() }
}
private struct NotHeld: Named {
  var small = true
  unowned let target: Target
  weak var other: Target?
  unowned(unsafe) let third: Target
  init(_ target: Target) { unsafe (self.target, other, third) = (target, target, target) }
  func tick() {}
}
private enum Choice {
  case closure(() -> Void, UInt8)
  case both(NotHeld, Int)
  indirect case nested(Choice)
}
private struct Failure: Error, @unchecked Sendable {
  // Unchecked: it stays on one thread.
  let closure: () -> Void
}
private struct Wrapper<Value> {
  let small: Int16
  let value: Value
  func use() { UDITestingTests.use(value) }
}
private struct Group {
  let small = Int8(3)
  let closure: () -> Void
  let notHeld: NotHeld
}
private final class Cell<Value> {
  let value: Value
  init(_ value: Value) { self.value = value }
  func use() { UDITestingTests.use(value) }
}

@inline(never) private func use<Value>(_ value: Value) { withExtendedLifetime(value) {} }
@inline(never) private func call(_ closure: () -> Void) { if Int.random(in: 0..<1) == 1 { closure() } }
@inline(never) @_optimize(none) private func generic<Value>(_ value: Value, _ f: @escaping () -> Void) -> () -> Void {
  {
    use(value); call(f)
  }
}
@inline(never) @_optimize(none) private func genericVariable<Value: Named>(_ value: Value) -> () -> Void {
  var copy = value
  return {
    copy.tick(); copy = value
  }
}
@inline(never) @_optimize(none) private func genericTwo<First, Second>(_ first: First, _ second: Second) -> () -> Void {
  let both = (Wrapper(small: 1, value: first), [Wrapper(small: 2, value: second)])
  return { use(both) }
}
@inline(never) @_optimize(none) private func genericObject<Value: AnyObject>(_ value: Value) -> () -> Void {
  { [weak value, cell = Cell(1 as UInt8)] in
    use(value); cell.use()
  }
}
@inline(never) @_optimize(none) private func genericUnowned<Value: AnyObject>(_ value: Value) -> () -> Void {
  { [unowned value, number = 5] in if number == 6 { use(value) } }
}
@inline(never) private func curried(_ target: Target) -> (Int) -> () -> Void {
  { number in { if number == -1 { target.tick() } } }
}

/// Makes closures of random shapes.
private struct Shapes {
  private var state: UInt64
  /// The shapes that were chosen.
  var log: [Int] = []

  init(seed: UInt64) { state = seed }

  private mutating func next(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ z >> 31) % UInt64(bound))
  }

  mutating func closure(_ target: Target, depth: Int) -> (() -> Void, isHeld: Bool) {
    let shape = depth == 0 ? next(14) : next(42)
    log.append(shape)
    switch shape {
    // Leaves that hold the target.
    case 0: return ({ target.tick() }, true)
    case 1: return (target.tick, true)
    case 2:
      var variable: Target? = target
      return (
        {
          variable?.tick(); if variable == nil { variable = target }
        }, true
      )
    case 3:
      return ({ [number = Int8(next(100)), flag = next(2) == 0] in if flag, number == -1 { target.tick() } }, true)
    case 4:
      let strong = Strong(target: target)
      return (strong.tick, true)
    case 5:
      return (
        { [any = target as any Named, text = "text \(next(10))"] in
          any.tick(); use(text)
        }, true
      )
    case 6: return (curried(target)(next(9)), true)
    // Leaves that do not.
    case 7: return ({ [weak target] in target?.tick() }, false)
    case 8: return ({ [unowned target, number = next(9)] in if number == -1 { target.tick() } }, false)
    case 9: return ({ [unowned(unsafe) target] in unsafe use(target) }, false)
    case 10:
      weak var variable: Target? = target
      return (
        {
          variable?.tick(); if variable == nil { variable = nil }
        }, false
      )
    case 11:
      unowned var variable = target
      unowned let other = target
      return (
        {
          variable.tick()
          variable = other
        }, false
      )
    case 12:
      let notHeld = NotHeld(target)
      return ({ use(notHeld) }, false)
    case 13:
      return (
        { [weak object = target as (any NamedObject)?, cell = Cell(3.5)] in
          object?.tick(); cell.use()
        }, false
      )
    default: break
    }
    let (inner, isHeld) = closure(target, depth: depth - 1)
    let (other, isOtherHeld) = closure(target, depth: depth - 1)
    switch shape {
    case 14: return ({ call(inner) }, isHeld)
    case 15:
      return (
        {
          call(inner); call(other)
        }, isHeld || isOtherHeld
      )
    case 16:
      var variable = inner
      return (
        {
          call(variable); if variable as Any is Int { variable = other }
        }, isHeld || isOtherHeld
      )
    case 17: return ({ [any = inner as Any] in use(any) }, isHeld)
    case 18: return ({ [list = [inner, other]] in use(list) }, isHeld || isOtherHeld)
    case 19: return ({ [table = ["a": inner, "b": other]] in use(table) }, isHeld || isOtherHeld)
    case 20: return ({ [choice = Choice.closure(inner, 3)] in use(choice) }, isHeld)
    case 21: return ({ [choice = Choice.nested(.nested(.closure(inner, 3)))] in use(choice) }, isHeld)
    case 22:
      return (
        { [choice = Choice.both(NotHeld(target), 3)] in
          use(choice); call(inner)
        }, isHeld
      )
    case 23: return ({ [error = Failure(closure: inner) as any Error] in use(error) }, isHeld)
    case 24: return (generic(inner, other), isHeld || isOtherHeld)
    case 25: return (generic(Strong(target: target), other), true)
    case 26: return (generic(NotHeld(target), other), isOtherHeld)
    case 27: return (genericVariable(Strong(target: target)), true)
    case 28: return (genericVariable(NotHeld(target)), false)
    case 29: return (genericTwo(inner, next(3)), isHeld)
    case 30: return (genericTwo(NotHeld(target), other), isOtherHeld)
    case 31: return (genericObject(target), false)
    case 32: return (genericUnowned(target), false)
    case 33: return (Cell(inner).use, isHeld)
    case 34: return (Wrapper(small: 1, value: inner).use, isHeld)
    case 35:
      return (
        { [wide = SIMD4<Double>(repeating: 2), small = UInt8(1)] in
          use(wide); use(small); call(inner)
        }, isHeld
      )
    case 36: return ({ [group = Group(closure: inner, notHeld: NotHeld(target))] in use(group) }, isHeld)
    case 37:
      return (
        { [optional = Optional.some(inner), none = Optional<Target>.none] in
          use(optional); use(none)
        }, isHeld
      )
    case 38:
      let waiting: () async throws -> Int = {
        call(inner); return 1
      }
      return (
        {
          use(waiting); call(other)
        }, isHeld || isOtherHeld
      )
    case 39:
      let adding: (Int) -> Void = target.add
      return (
        { [type = Target.self as Any.Type] in
          use(type); use(adding)
        }, true
      )
    case 40:
      var (number, text, boxed) = (1, "x", inner)
      return (
        {
          number += 1; text += "y"; call(boxed); if number < 0 { boxed = {} }
        }, isHeld
      )
    default:
      let sequence: any Sequence<() -> Void> = [inner]
      let lazily = [1].lazy.map { number in { if number == 2 { call(other) } } }
      return (
        {
          use(sequence); use(lazily)
        }, isHeld || isOtherHeld
      )
    }
  }
}
