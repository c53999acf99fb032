import Dispatch
import Testing
import UDI
import UDITesting

private final class Target: Sendable {}

/// Leak traces where the runtime does not tell the type of a stored property, or does not know its layout.
struct LeakTraceLayoutTests {
  /// The trace of an object that nothing in the tree holds, unless `holder`, which is in the tree, does.
  private func trace<Holder: AnyObject>(by holder: (Target) -> Holder) throws -> String? {
    let target = Target()
    let holder = holder(target)
    let context = UDIContext(tag: "context")
    return withExtendedLifetime((target, context)) {
      var traces = LeakTraces(to: [target], from: [holder])
      return traces.trace(of: target)
    }
  }

  @Test("Block types, whose layout the runtime does not know on Linux")
  func blocks() throws {
    typealias Block = @convention(block) () -> Void
    final class Debouncer {
      var item: DispatchWorkItem? = DispatchWorkItem {}
      let target: Target
      init(_ target: Target) { self.target = target }
    }
    final class Blocks {
      let block: Block = {}
      var optional: Block?
      let target: Target
      init(_ target: Target) { self.target = target }
    }
    struct Pair {
      let block: Block = {}
      let target: Target
    }
    enum Choice {
      case block(Block), target(Target)
    }
    final class Nested {
      let pair: Pair
      let choices: [Choice]
      init(_ target: Target) { (pair, choices) = (Pair(target: target), [.block({})]) }
    }
    final class Closure {
      let action: () -> Void
      init(_ target: Target) {
        let (block, optional): (Block, Block?) = ({}, {})
        action = {
          withExtendedLifetime(target) {
            block(); optional?()
          }
        }
      }
    }
    #expect(try trace { Debouncer($0) } == "Debouncer.target → Target")
    #expect(try trace { Blocks($0) } == "Blocks.target → Target")
    #expect(try trace { Nested($0) } == "Nested.pair.target → Target")
    #expect(try trace { Closure($0) } == "Closure.action {captures} → Target")
  }

  @Test("Void properties, and generic ones that are Void here, hold nothing")
  func voids() throws {
    final class WithVoid {
      unowned(unsafe) var target: Target
      let nothing: Void = ()
      init(_ target: Target) { unsafe self.target = target }
    }
    class Generic<Value> {
      unowned(unsafe) var target: Target
      var last: Value
      init(_ target: Target, _ last: Value) { unsafe (self.target, self.last) = (target, last) }
    }
    final class Special: Generic<Void> {}
    struct Empty: ~Copyable {}
    final class WithEmpty {
      unowned(unsafe) var target: Target
      let nothing = Empty()
      init(_ target: Target) { unsafe self.target = target }
    }
    final class WithTuple {
      unowned(unsafe) var target: Target
      var pair: (Void, Int?, AnyObject?) = ((), 1, nil)
      init(_ target: Target) { unsafe self.target = target }
    }
    #expect(try trace { WithVoid($0) } == nil)
    #expect(try trace { Generic($0, ()) } == nil)
    #expect(try trace { Special($0, ()) } == nil)
    #expect(try trace { WithEmpty($0) } == nil)
    #expect(try trace { WithTuple($0) } == nil)
  }

  @Test("What is held beside a Void is found, also in a property that cannot be copied")
  func besideVoids() throws {
    struct Owned: ~Copyable {
      let target: Target
    }
    final class Holder {
      let nothing: Void = ()
      let target: Target
      init(_ target: Target) { self.target = target }
    }
    final class Owner {
      let owned: Owned
      let nothing: Void = ()
      let number = 1
      init(_ target: Target) { owned = Owned(target: target) }
    }
    final class Generic<Value> {
      var last: Value
      let pair: (Value, Target)
      init(_ last: Value, _ target: Target) { (self.last, pair) = (last, (last, target)) }
    }
    #expect(try trace { Holder($0) } == "Holder.target → Target")
    #expect(try trace { Owner($0) } == "Owner.owned → Target")
    #expect(try trace { Generic((), $0) } == "Generic<()>.pair.1 → Target")
  }
}
