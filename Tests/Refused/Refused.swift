// What the compiler has to refuse in the Swift 6 language mode. Each line that ends with `// refused` must get an error, and no other line:
// `.ci/refused` compiles this file and compares. Text after `refused:` must stand in the error.
import UDI

protocol Local: AnyObject { var count: Int { get set } }
final class Counter: Local { var count = 0 }
final class Report { var counter: Counter? }
struct Reading: Sendable { let count: Int }

nonisolated func verbs(_ context: UDIContext, _ counter: Counter, _ key: UDIKey<any Local>) throws {
  context.bind(counter, as: (any Local).self)  // refused
  context.multiBind(counter, as: (any Local).self)  // refused
  context.provide(counter)  // refused
  _ = context.link((any Local).self)  // refused
  _ = context.link(key)  // refused
  _ = context.linkAll((any Local).self)  // refused
  _ = context.link((any Local).self, fresh: true)  // refused
  _ = try context.require((any Local).self)  // refused
  _ = context.registrations(of: (any Local).self).first?.link()  // refused
}

nonisolated func rules(_ context: UDIContext) -> sending Report {
  let report = Report()
  context.rules(for: Report.self).inject(\.counter)  // refused
  context.inject(into: report)  // refused
  return report
}

nonisolated func conversions(_ registration: UDIRegistration<Counter>) {
  registration.implements(Reading.self) { Reading(count: $0.count) }  // refused
}

nonisolated func factories(_ context: UDIContext, _ counter: Counter) {
  context.register(Reading.self) { Reading(count: counter.count) }  // refused
}

final class Tool: UDIObject {
  let _attachedContext = UDIAttachment()
  var local: (any Local)?
  func didAttachContext() {
    bind(Counter(), as: (any Local).self)  // refused
    link(\.local)  // refused
    link(&local)  // refused
    _ = linkInLine((any Local).self)  // refused
    _ = linkInLine((any Local).self, fresh: true)  // refused
    _ = linkAll((any Local).self)  // refused
    _ = try? require((any Local).self)  // refused
    _ = try? require() as any Local  // refused
  }
}

// MARK: A type that would be inferred by mistake

protocol Clock: Sendable {}
struct SystemClock: Clock {}

nonisolated func inferred(_ context: UDIContext, _ tool: Tool) {
  // The type would be `SystemClock`, the one of the default, and not `any Clock`.
  let _: any Clock = context.link() ?? SystemClock()  // refused
  let _: any Clock = context.link(with: 5) ?? SystemClock()  // refused
  let _: any Clock = context.link(fresh: true) ?? SystemClock()  // refused
  let _: any Clock = context.link(fresh: true, with: 5) ?? SystemClock()  // refused
  let _: any Clock = tool.linkInLine() ?? SystemClock()  // refused
  let _: any Clock = tool.linkInLine(with: 5) ?? SystemClock()  // refused
  let _: any Clock = tool.linkInLine(fresh: true) ?? SystemClock()  // refused
  let _: any Clock = tool.linkInLine(fresh: true, with: 5) ?? SystemClock()  // refused
}

@MainActor func inferredOnMainActor(_ context: UDIContext, _ tool: Tool) {
  let _: any Local = context.link() ?? Counter()  // refused
  let _: any Local = context.link(with: 5) ?? Counter()  // refused
  let _: any Local = context.link(fresh: true) ?? Counter()  // refused
  let _: any Local = context.link(fresh: true, with: 5) ?? Counter()  // refused
  let _: any Local = tool.linkInLine() ?? Counter()  // refused
  let _: any Local = tool.linkInLine(with: 5) ?? Counter()  // refused
  let _: any Local = tool.linkInLine(fresh: true) ?? Counter()  // refused
  let _: any Local = tool.linkInLine(fresh: true, with: 5) ?? Counter()  // refused
}

// MARK: On objects `link` keeps what it finds in a property

nonisolated func linked(_ tool: Tool, _ key: UDIKey<any Clock>) {
  _ = tool.link((any Clock).self)  // refused: renamed to 'linkInLine'
  _ = tool.link((any Clock).self, named: "name", search: .local)  // refused: renamed to 'linkInLine'
  _ = tool.link((any Clock).self, with: 5)  // refused: renamed to 'linkInLine'
  _ = tool.link((any Clock).self, named: "name", with: 5, "text")  // refused: renamed to 'linkInLine'
  _ = tool.link((any Clock).self, fresh: true)  // refused: renamed to 'linkInLine'
  _ = tool.link((any Clock).self, fresh: true, with: 5)  // refused: renamed to 'linkInLine'
  _ = tool.link(key)  // refused: renamed to 'linkInLine'
}

// What may stay as it is.

@MainActor func allowed(_ context: UDIContext) throws {
  context.bind(Counter(), as: (any Local).self)
  _ = try context.require((any Local).self)
  let _: any Local = try context.require()
  context.rules(for: Report.self).inject(\.counter)
  context.inject(into: Report())
  context.register(Counter.self) { Counter() }.implements(Reading.self) { Reading(count: $0.count) }
}
