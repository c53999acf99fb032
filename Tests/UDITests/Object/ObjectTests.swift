import Testing
import UDI

@Suite struct ObjectTests {
  @Test func attachingStoresAndCallsTheHook() {
    let context = UDIContext(tag: "context")
    let member = Member { $0.bind($0, as: (any Service).self) }
    #expect(member.attachedContext == nil)
    #expect(member.attached(to: context) === member)
    #expect(member.attachedContext === context)
    #expect(context.link((any Service).self) === member)
  }

  @Test func theHookSeesTheNewContext() {
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let member = Member { member in
      #expect(member.attachedContext?.link((any Service).self) == nil, "what was bound is withdrawn first")
      member.bind(member, as: (any Service).self)
    }
    for context in [a, b, b] { member.attachedContext = context }
    #expect(boundHere(a).isEmpty && boundHere(b).count == 1)
  }

  @Test func attachingElsewhereWithdrawsWhatBindBoundAndKeepsMultiBinds() {
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let helper = Plain()
    let member = Member().attached(to: a)
    member.bind(member, as: (any Service).self)
    member.bind(helper, as: (any Other).self)
    member.multiBind(member, as: (any Loose).self)
    member.attachedContext = b
    #expect(a.link((any Service).self) == nil && a.link((any Other).self) == nil)
    #expect(a.link((any Loose).self)?.label == "member")
    #expect(boundHere(b).isEmpty)
  }

  @Test func detachingWithdrawsEverythingAndCallsNoHook() {
    let calls = Tally()
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let member = Member { _ in calls.add() }.attached(to: a)
    member.bind(member, as: (any Service).self)
    member.multiBind(member, as: (any Other).self, in: [a, b])
    member.attachedContext = nil
    #expect(calls.count == 1)
    #expect(boundHere(a).isEmpty && boundHere(b).isEmpty)
    #expect(member.attachedContext == nil)
  }

  @Test func attachDoesWhatSettingTheContextDoes() {
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let member = Member { $0.bind($0, as: (any Service).self) }
    for context in [a, b, b] {
      member.attachedContext = context
      #expect(member.attachedContext === context)
    }
    #expect(boundHere(a).isEmpty && b.link((any Service).self) === member)
  }

  @Test func detachDoesWhatSettingNilDoes() {
    let calls = Tally()
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let member = Member { _ in calls.add() }.attached(to: a)
    member.bind(member, as: (any Service).self)
    member.multiBind(member, as: (any Other).self, in: [a, b])
    member.attachedContext = nil
    #expect(calls.count == 1 && member.attachedContext == nil)
    #expect(boundHere(a).isEmpty && boundHere(b).isEmpty)
    member.attachedContext = b
    #expect(calls.count == 2 && member.attachedContext === b)
  }

  @Test func whatOthersBoundOfAnObjectStaysWhenItIsAttachedElsewhere() {
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let member = Member().attached(to: a)
    a.bind(member, as: (any Service).self)
    member.attachedContext = b
    #expect(a.link((any Service).self) === member)
  }

  @Test func anObjectHoldsItsContext() {
    weak var context: UDIContext?
    var member: Member?
    do {
      let made = UDIContext(tag: "context")
      context = made
      member = Member().attached(to: made)
    }
    #expect(context != nil)
    member = nil
    #expect(context == nil)
    #expect(member == nil)
  }

  /// Lifetimes: held, dropped, and referred to only weakly.
  @Test func theBindingsOfADyingObjectGoWithItAtOnce() throws {
    let root = UDIContext(tag: "root")
    let (a, b) = (try root.makeChild(tag: "a"), try root.makeChild(tag: "b"))
    let helper = Plain()
    var member: Member? = Member().attached(to: a)
    member!.bind(member!, as: (any Service).self)
    member!.multiBind(member!, as: (any Other).self, in: [a, b])
    member!.bind(helper, as: (any Loose).self)
    b.bind(member!, as: (any Service).self, named: "by the context")
    #expect(boundHere(a).count == 3 && boundHere(b).count == 2)
    member = nil
    #expect(boundHere(a).isEmpty && boundHere(b).isEmpty, "nothing is left, not even a dead entry")
  }

  /// What a context bound of an object goes with the object: always on the main actor, and elsewhere if the object was
  /// ever attached.
  @Test func whatAContextBoundOfAnAttachedObjectGoesAtOnceToo() {
    let context = UDIContext(tag: "context")
    do {
      let member = Member().attached(to: UDIContext(tag: "elsewhere"))
      context.bind(member, as: (any Service).self)
    }
    #expect(boundHere(context).isEmpty)
  }

  @Test @MainActor func onTheMainActorThatIsSoForObjectsThatWereNeverAttached() {
    let context = UDIContext(tag: "context")
    do {
      let member = Member()
      context.bind(member, as: (any Service).self)
    }
    #expect(boundHere(context).isEmpty)
  }

  /// Binding an object calls nothing of it that is isolated to the main actor.
  @Test func contextsBindMainActorObjectsFromAnywhere() async {
    @MainActor final class Checked: @preconcurrency UDIObject, Service {
      let _attachedContext = UDIAttachment()
      func didAttachContext() {}
    }
    @MainActor final class Isolated: @MainActor UDIObject, Service {
      let _attachedContext = UDIAttachment()
      func didAttachContext() {}
    }
    let context = UDIContext(tag: "context")
    let (checked, isolated) = (Checked(), Isolated())
    for object in [checked, isolated] as [any Service] {
      await Task.detached { context.bind(object, as: (any Service).self) }.value
      #expect(context.link((any Service).self) === object)
    }
  }

  @Test func otherClassesAreSeenAsDead() {
    let context = UDIContext(tag: "context")
    do {
      let plain = Plain()
      context.bind(plain, as: (any Service).self)
    }
    #expect(boundHere(context) == ["UDITests.Service: dead"])
    #expect(context.link((any Service).self) == nil)
    #expect(boundHere(context).isEmpty)
  }

  @Test func unbindTakesBackOnlyWhatTheObjectBound() {
    let context = UDIContext(tag: "context")
    let (first, second) = (Member("first").attached(to: context), Member("second").attached(to: context))
    first.bind(first, as: (any Service).self)
    second.bind(second, as: (any Service).self)
    #expect(!first.unbind((any Service).self))
    #expect(context.link((any Service).self) === second)
    #expect(!second.unbind((any Service).self, named: "other"))
    #expect(second.unbind((any Service).self))
    #expect(context.link((any Service).self) == nil)
  }

  @Test func unbindInADeinitLeavesASuccessorAlone() {
    final class Screen: UDIObject, Service {
      let _attachedContext = UDIAttachment()
      func didAttachContext() { bind(self, as: (any Service).self) }
      deinit { unbind((any Service).self) }
    }
    let context = UDIContext(tag: "context")
    var first: Screen? = Screen().attached(to: context)
    let second = Screen().attached(to: context)
    #expect(first != nil)
    first = nil
    #expect(context.link((any Service).self) === second)
  }

  @Test func unbindTakesBackFromAllContexts() {
    let contexts = (0..<3).map { UDIContext(tag: "\($0)") }
    let member = Member()
    member.multiBind(member, as: (any Service).self, in: contexts)
    member.multiBind(member, as: (any Other).self, in: contexts)
    #expect(member.unbind((any Service).self))
    #expect(contexts.allSatisfy { $0.link((any Service).self) == nil && $0.link((any Other).self) === member })
  }

  @Test func bindOfAnObjectMoves() {
    let (a, b) = (UDIContext(tag: "a"), UDIContext(tag: "b"))
    let member = Member().attached(to: a)
    b.bind(member, as: (any Service).self)
    member.bind(member, as: (any Service).self)
    #expect(a.link((any Service).self) === member)
    #expect(b.link((any Service).self) == nil)
  }

  @Test func linkingIntoProperties() throws {
    final class Screen: UDIObject {
      let _attachedContext = UDIAttachment()
      var service: (any Service)?
      var backup: (any Service)?
      var local: (any Other)?
      func didAttachContext() {}
    }
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let (service, backup) = (Plain(), Plain())
    child.bind(service, as: (any Service).self)
    root.bind(backup, as: (any Service).self, named: "backup")
    let screen = Screen().attached(to: root)
    #expect(screen.link(\.service) && screen.service === service)
    #expect(screen.link(&screen.backup, named: "backup") && screen.backup === backup)
    #expect(!screen.link(\.service, search: .local))
    #expect(screen.service == nil, "a miss writes nil")
    #expect(!screen.link(&screen.local))
    var variable: (any Service)? = backup
    #expect(!screen.link(&variable, search: .local) && variable == nil)
    #expect(screen.linkInLine((any Service).self) === service)
    #expect(screen.linkInLine((any Service).self, named: "backup") === backup)
    #expect(screen.linkInLine((any Service).self, search: .local) == nil)
    #expect(screen.linkAll((any Service).self).count == 2)
    #expect(screen.find("child") === child && screen.find("child") === child)
    #expect(screen.find("none") == nil && screen.find("none") == nil)
    #expect(try screen.require((any Service).self) === service)
    #expect(throws: UDILinkError.self) { try screen.require((any Other).self) }
  }

  @Test func requireAsksForTheTypeOfThePlaceThatItIsFor() throws {
    final class Editor {
      let service: any Service
      let loose: (any Loose)?
      init(_ service: any Service, _ loose: (any Loose)?) { (self.service, self.loose) = (service, loose) }
    }
    let root = UDIContext(tag: "root")
    let (service, loose) = (Plain(), Plain("loose"))
    root.bind(service, as: (any Service).self)
    root.bind(loose, as: (any Loose).self, named: "n")
    let member = Member().attached(to: root)
    let editor = try Editor(member.require(), member.require(named: "n"))
    #expect(editor.service === service && editor.loose?.label == "loose")
    let optional: (any Service)? = try member.require()
    #expect(optional === service, "it is not the optional that is asked for")
    let error = #expect(throws: UDILinkError.self) { let _: (any Other)? = try member.require() }
    #expect(error?.explanation.typeName == "UDITests.Other")
  }

  /// `link(\.x)` keeps the old value until the write is over, so that the value's `deinit` may read the property.
  @Test func theOldValueMayTouchThePropertyWhenItGoes() {
    final class Screen: UDIObject, @unchecked Sendable {
      let _attachedContext = UDIAttachment()
      var service: (any Service)?
      var seen: [Bool] = []
      func didAttachContext() {}
    }
    let context = UDIContext(tag: "context")
    let new = Plain()
    context.bind(new, as: (any Service).self)
    let screen = Screen().attached(to: context)
    screen.service = Farewell { [unowned screen] in screen.seen.append(screen.service === new) }
    screen.link(\.service)
    #expect(screen.seen == [true])
  }

  @Test func linkInLineKeepsNothing() {
    let context = UDIContext(tag: "context")
    let member = Member().attached(to: context)
    weak var observed: Plain?
    do {
      let plain = Plain()
      observed = plain
      context.bind(plain, as: (any Service).self)
      #expect(member.linkInLine((any Service).self) === plain)
      #expect(context.linkAll((any Service).self).count == 1)
    }
    #expect(observed == nil)
    #expect(member.linkInLine((any Service).self) == nil)
  }

  @Test func aHookThatAttachesAnother() {
    let context = UDIContext(tag: "context")
    let inner = Member("inner") { $0.bind($0, as: (any Other).self) }
    let outer = Member("outer") { member in
      inner.attachedContext = context
      #expect(member.linkInLine((any Other).self) === inner)
    }
    outer.attachedContext = context
    #expect(context.link((any Other).self) === inner)
  }

  @Test func aThousandHelpers() {
    let context = UDIContext(tag: "context")
    let helpers = (0..<1000).map { Plain("\($0)") }
    do {
      let member = Member().attached(to: context)
      for (index, helper) in helpers.enumerated() {
        member.bind(helper, as: (any Service).self, named: UDIName(index))
      }
      #expect(member.linkAll((any Service).self).count == 1000)
    }
    #expect(context.linkAll((any Service).self).isEmpty)
  }
}
