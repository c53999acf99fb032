import Observation
import UDI

private final class Reader: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked(keeps: .never) var inLine: (any Service)?
  @Followed var followed: (any Service)?
  func didAttachContext() {}
}

/// Reads a property that looks its dependency up at each read.
@inline(never)
func readInLine(_ count: Int, in context: UDIContext, _ host: Host) {
  let reader = Reader().attached(to: context)
  for _ in 0..<count where reader.inLine !== host { fatalError("it is there") }
}

private final class Keeper: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var linked: (any Owned)?
  @Required var required: any Owned
  func didAttachContext() {}
}

/// Reads a property that keeps what it has looked up.
@inline(never)
func readKept(_ count: Int, in context: UDIContext, _ owned: any Owned, isRequired: Bool) {
  let keeper = Keeper().attached(to: context)
  if isRequired {
    for _ in 0..<count where keeper.required !== owned { fatalError("it is there") }
  } else {
    for _ in 0..<count where keeper.linked !== owned { fatalError("it is there") }
  }
}

private final class One: UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var service: any Service
  func didAttachContext() {}
}

/// Attaches an object that requires something.
@inline(never)
func attachOne(_ count: Int, in context: UDIContext) {
  let one = One()
  for _ in 0..<count { one.attachedContext = context }
}

/// Reads a property that is followed, while nobody observes it.
@inline(never)
func readFollowed(_ count: Int, in context: UDIContext, _ host: Host) {
  let reader = Reader().attached(to: context)
  for _ in 0..<count where reader.followed !== host { fatalError("it is there") }
}

/// What a provider makes anew each time.
private struct Derived: Sendable {
  var service: (any Service)?
  var owned: (any Owned)?
  var named: (any Service)?
  var missing: (any Missing)?
}

@MainActor private final class DerivedReader: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Followed var derived: Derived?
  func didAttachContext() {}
}

/// Reads a property whose dependency a factory makes of what it looks up.
///
/// - Parameters:
///   - looksUp: Whether the factory makes four lookups, which find the same each time.
///   - isObserved: Whether the read is observed. If so, it is a part of a look, and the factory's lookups are needs.
@MainActor @inline(never)
func readDerived(_ count: Int, in context: UDIContext, looksUp: Bool, isObserved: Bool) {
  context.register(Derived.self, lifetime: .unique, isolation: nil) { context in
    guard looksUp else { return Derived() }
    return Derived(
      service: context.link((any Service).self), owned: context.link((any Owned).self),
      named: context.link((any Service).self, named: "example"), missing: context.link((any Missing).self))
  }
  let reader = DerivedReader().attached(to: context)
  func read() { for _ in 0..<count where reader.derived == nil { fatalError("it is made") } }
  if isObserved { withObservationTracking(read) {} } else { read() }
}
