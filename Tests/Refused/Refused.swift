// What the compiler has to refuse in the Swift 6 language mode. Each line that ends with `// refused` must get an error, and no other line:
// `.ci/refused` compiles this file and compares.
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
  _ = context.linkFresh((any Local).self)  // refused
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
    _ = linkAll((any Local).self)  // refused
  }
}

// What may stay as it is.

@MainActor func allowed(_ context: UDIContext) throws {
  context.bind(Counter(), as: (any Local).self)
  _ = try context.require((any Local).self)
  context.rules(for: Report.self).inject(\.counter)
  context.inject(into: Report())
  context.register(Counter.self) { Counter() }.implements(Reading.self) { Reading(count: $0.count) }
}
