import Testing

@testable import UDI

@MainActor private final class Screen: @MainActor UDIFinalObject { let _attachedContext = UDIAttachment() }

/// Notes from where it is called: the `AppContext`, and whether the reporter is the test's.
private final class Witness: Sendable {
  let tags = Locked<[String]>([])
  let reports = Tally()

  var reporter: UDIReporter { UDIReporter { [reports] _ in reports.add() } }

  func look() {
    tags.withLock { $0.append(AppContext.tag) }
    UDIReporter.current.report(.notMade, "seen", at: UDICallSite("", 0))
  }
}

private final class Listener: UDIFinalObject, Sendable { let _attachedContext = UDIAttachment() }
private actor Desk: UDIFinalObject { nonisolated let _attachedContext = UDIAttachment() }

private enum Values {
  @TaskLocal static var plain: Plain?
}

/// Which task-local values the calls of `follow` see.
@MainActor @Suite(.unlessItHangs) struct FollowValuesTests {
  let root = UDIContext(tag: "root")

  @Test("All calls, and the factories of what is followed, see the AppContext and the reporter of the code that began")
  func taskValues() async {
    let (root, witness) = (root, Witness())
    func register() {
      root.register(Plain.self, lifetime: .unique, replaces: true) {
        witness.look()
        return Plain()
      }
    }
    register()
    let (own, screen, listener, desk) = (UDIContext(tag: "own"), Screen(), Listener(), Desk())
    withAppContext(own) {
      withReporter(witness.reporter) {
        screen.attached(to: root).follow(Plain.self) { _, _ in witness.look() }
        listener.attached(to: root).follow(Plain.self) { @Sendable _, _ in witness.look() }
        desk.attached(to: root).follow(Plain.self) { _, _ in witness.look() }
      }
    }
    #expect(await settle([root]))
    register()
    #expect(await settle([root]))
    let tags = witness.tags.withLock { $0 }
    #expect(tags.count >= 12 && tags.allSatisfy { $0 == "own" } && witness.reports.count == tags.count)
    withExtendedLifetime(own) {}
  }

  @Test("Nothing else of the task is kept, and the AppContext is not kept either")
  func keepsNothing() async {
    let (witness, screen, listener) = (Witness(), Screen().attached(to: root), Listener().attached(to: root))
    weak var context: UDIContext?
    weak var value: Plain?
    do {
      let (own, plain) = (UDIContext(tag: "own"), Plain())
      (context, value) = (own, plain)
      withAppContext(own) {
        Values.$plain.withValue(plain) {
          withReporter(witness.reporter) {
            screen.follow((any Loose).self) { _, _ in witness.look() }
            listener.follow((any Loose).self) { @Sendable _, _ in witness.look() }
          }
        }
      }
    }
    #expect(await settle([root]) && context == nil && value == nil)
    let bound = Plain()
    root.bind(bound, as: (any Loose).self)
    #expect(await settle([root]) && witness.reports.count == 4)
  }
}
