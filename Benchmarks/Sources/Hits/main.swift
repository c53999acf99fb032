/// Makes lookups, or registers factories, as often as it is told: for `instructions`, which counts what each takes.
///
///     Hits COUNT on|off KIND    with recording on or off; KIND is one of those below
import Dispatch
import UDI

protocol Service: AnyObject, Sendable {}
protocol Owned: AnyObject, Sendable {}
final class Host: Service, Owned {}

final class Member: UDIObject {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}

final class Three: UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var first: any Service
  @Required var second: any Owned
  @Required(named: "example") var third: any Service
  func didAttachContext() {}
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[1]), ["on", "off"].contains(arguments[2]) else {
  fatalError("usage: Hits COUNT on|off KIND")
}
UDIRecording.isOn = arguments[2] == "on"
let context = UDIContext(tag: "context")
let host = Host()
context.bind(host, as: (any Service).self)
context.multiBind(host, as: (any Service).self, named: "example")
context.register((any Owned).self, lifetime: .context) { Host() }
let owned = context.link((any Owned).self)
protocol Made: AnyObject, Sendable {}
protocol Kept: AnyObject, Sendable {}
protocol Missing: AnyObject, Sendable {}
extension Host: Made, Kept {}
context.register((any Made).self, lifetime: .unique) { Host() }
context.register((any Kept).self, lifetime: .context) { Host() }
// A context of its own, because "made-and-kept" resets all that its context has.
let other = UDIContext(tag: "other")
registerNumbered(in: other)
registerGraph(in: other)
context.register(Member.self, lifetime: .context) { Member() }
guard let ownedMember = context.link(Member.self) else { fatalError("it is registered") }
let member = Member().attached(to: context)
let key = UDIKey<any Service>(named: "example")

/// Inlined, so that a lookup stands in the loop itself.
@inline(__always)
func repeating(_ isFound: () -> Bool) {
  for _ in 0..<count {
    guard isFound() else { fatalError("it is there") }
  }
}

switch arguments[3] {
case "link": repeating { context.link((any Service).self) === host }
case "owned": repeating { context.link((any Owned).self) === owned }
case "name": repeating { context.link((any Service).self, named: "example") === host }
case "key": repeating { context.link(key) === host }
case "object": repeating { member.linkInLine((any Service).self) === host }
case "object-owned": repeating { member.linkInLine((any Owned).self) === owned }
case "require": repeating { (try? context.require((any Service).self)) === host }
case "object-require": repeating { (try? member.require((any Service).self)) === host }
// Not `=== host`: in this one place the compiler calls the operator, which takes 14 instructions, instead of inlining it.
case "owned-object": repeating { ownedMember.linkInLine((any Service).self) != nil }
case "object-name": repeating { member.linkInLine((any Service).self, named: "example") === host }
case "object-key": repeating { member.link(key) === host }
case "read-linked": readKept(count, in: context, owned ?? host, isRequired: false)
case "read-required": readKept(count, in: context, owned ?? host, isRequired: true)
case "attach-one": attachOne(count, in: context)
case "attach-three":
  let three = Three()
  repeating {
    three.attachedContext = context
    return true
  }
case "link-all":
  let all = (1...10).map { _ in Host() }
  for (index, one) in all.enumerated() { context.bind(one, as: (any Numbered).self, named: UDIName("\(index)")) }
  withExtendedLifetime(all) { repeating { context.linkAll((any Numbered).self).count == 10 } }
case "wrapper": readInLine(count, in: context, host)
case "followed": readFollowed(count, in: context, host)
case "plain": readDerived(count, in: context, looksUp: false, isObserved: false)
case "plain-needs": readDerived(count, in: context, looksUp: true, isObserved: false)
case "look": readDerived(count, in: context, looksUp: false, isObserved: true)
case "look-needs": readDerived(count, in: context, looksUp: true, isObserved: true)
case "miss": repeating { context.link((any Missing).self) == nil }
case "made": repeating { context.link((any Made).self) != nil }
case "made-and-kept":
  repeating {
    context.reset()
    return context.link((any Kept).self) != nil
  }
case "attach":
  repeating {
    member.attachedContext = context
    return true
  }
case "attach-required":
  let three = Three()
  repeating {
    three.attachedContext = context
    return three.first === host && three.second === owned && three.third === host
  }
case "argument": repeating { other.link((any Numbered).self, with: 5) != nil }
case "graph": repeating { other.link((any Top).self) != nil }
case "scope": repeating { useScope(of: context) }
case "scoped":
  registerForScopes(in: context)
  repeating { useScopeOfRegistered(in: context) }
case "register": register(count)
case "request":
  registerForRequests(in: context)
  // A synchronous program, because valgrind cannot follow an asynchronous `main`.
  let (count, context, done) = (count, context, DispatchSemaphore(value: 0))
  Task.detached {
    for _ in 0..<count { try await useRequest(in: context) }
    done.signal()
  }
  done.wait()
case "round": goRounds(count, isByHand: false)
case "round-by-hand": goRounds(count, isByHand: true)
case let kind where kind.hasPrefix("request-") && makeRequests(count, in: context, kind.dropFirst(8)): break
default: fatalError("no kind \(arguments[3])")
}
