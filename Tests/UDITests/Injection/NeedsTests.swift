import Synchronization
import Testing
import UDI

private protocol Store: AnyObject, Sendable {}
private final class Disk: Store {}
private protocol Pair: AnyObject {}
private protocol Partner: AnyObject {}

private class Screen: UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var store: any Store
  var seen: (any Store)?
  var looksInHook = false
  func didAttachContext() { if looksInHook { seen = store } }
}

/// Inherits a property, is generic, and has properties of other sizes between its own.
private final class Detail<Item>: Screen {
  let flags: (UInt8, UInt16) = (1, 2)
  @Required(named: "title") var title: String
  var item: Item?
  @Linked var other: (any Store)?
  @Required var limit: Int
}

private final class PairObject: UDIFinalObject, Pair {
  let _attachedContext = UDIAttachment()
  @Required var partner: any Partner
}

private final class PartnerObject: UDIFinalObject, Partner {
  let _attachedContext = UDIAttachment()
  @Required var pair: any Pair
}

private final class Hooked: UDIObject, @unchecked Sendable {
  // Unchecked: each test uses its instance on one thread.
  let _attachedContext = UDIAttachment()
  @Required var store: any Store
  @Required var limit: Int
  var tags: [String] = []
  func didAttachContext() { tags.append(attachedContext?.tag ?? "none") }
}

/// Does not stay.
private final class Leaver: UDIObject, @unchecked Sendable {
  // Unchecked: each test uses its instances on one thread at a time.
  let _attachedContext = UDIAttachment()
  @Required var limit: Int
  func didAttachContext() { attachedContext = nil }
}

/// Has properties whose types are spelled with the wrapper at their beginning.
private final class Spellings: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  var lazily: Required<Int>?
  var maker: () -> Required<Int> = { Required() }
  var pair: (Required<Int>, UInt8) = (Required(), 1)
  var type: Required<Int>.Type = Required<Int>.self
  @Required var limit: Int
}

@MainActor private final class Panel: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var store: any Store
}

private actor Desk: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var store: any Store
  func read() -> any Store { store }
}

@MainActor private protocol Model: AnyObject {}
@MainActor private final class TimelineModel: Model {}
@MainActor private final class Window: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var model: any Model
}

/// How often something was made.
private final class Count: Sendable {
  private let value = Atomic<Int>(0)
  var now: Int { value.load(ordering: .relaxed) }
  func add() { value.add(1, ordering: .relaxed) }
}

@Suite struct NeedsTests {
  let context = UDIContext(tag: "context")

  @Test func whatIsRequiredIsThereWhenTheObjectIsAttached() throws {
    let made = Count()
    context.register((any Store).self, lifetime: .unique) {
      made.add()
      return Disk()
    }
    context.provide("Inbox", as: String.self, named: "title")
    context.provide(7, as: Int.self)
    let detail = Detail<[Double]>()
    detail.looksInHook = true
    let same = detail.attached(to: context)
    #expect(same === detail && made.now == 1, "looked up once, before the hook, and `@Linked` not at all")
    let store = detail.store
    #expect(detail.seen === store && detail.title == "Inbox" && detail.limit == 7 && made.now == 1)
    detail.attachedContext = try context.makeChild(tag: "child")
    #expect(made.now == 2 && detail.store !== store, "looked up anew where it is attached now")
  }

  @Test func itIsKeptAsLongAsTheObjectIsAttached() throws {
    let screen = Screen()
    weak var held: Disk?
    do {
      let disk = Disk()
      held = disk
      context.provide(disk, as: (any Store).self)
      screen.attachedContext = context
      context.unregister(UDIKey<any Store>())
    }
    #expect(held != nil && screen.store === held)
    context.provide(Disk(), as: (any Store).self)
    screen.attachedContext = context
    #expect(held == nil)
  }

  @Test func itIsReleasedWhenTheObjectIsDetachedOrFindsNothing() {
    let screen = Screen()
    weak var held: Disk?
    func attach() {
      let (disk, context) = (Disk(), UDIContext(tag: "context"))
      held = disk
      context.provide(disk, as: (any Store).self)
      screen.attachedContext = context
    }
    attach()
    #expect(held != nil)
    screen.attachedContext = nil
    #expect(held == nil)
    attach()
    let (_, reports) = MisuseLog.during { screen.attachedContext = context }
    #expect(held == nil && reports.map(\.kind) == [.needNotMet])
  }

  @Test func aFactoryMayAttachTheObjectElsewhere() throws {
    let other = UDIContext(tag: "other")
    let made = Count()
    other.register((any Store).self) {
      made.add()
      return Disk()
    }
    let screen = Hooked()
    context.register((any Store).self) {
      screen.attachedContext = other
      return Disk()
    }
    context.provide(1, as: Int.self)
    other.provide(2, as: Int.self)
    screen.attachedContext = context
    #expect(screen.tags == ["other"], "the hook is called once, for the latest context")
    #expect(screen.store is Disk && made.now == 1 && screen.limit == 2)
  }

  /// Its own factory attaches it elsewhere, where everything is missing, or there.
  @Test(arguments: [false, true]) func aFactoryMayAttachElsewhereWhatItMakes(_ isThere: Bool) throws {
    let other = UDIContext(tag: "other")
    if isThere {
      other.provide(2)
      other.provide(Disk(), as: (any Store).self)
    }
    context.provide(1)
    context.register(Hooked.self) { Hooked().attached(to: other) }
    let line = #line - 1
    let (made, reports) = MisuseLog.during { context.link(Hooked.self) }
    #expect(made?.tags == ["other"])
    #expect(reports.map(\.kind) == (isThere ? [] : [.needNotMet, .needNotMet]))
    #expect(reports.allSatisfy { $0.line == line })
    if isThere { #expect(made?.limit == 2) }
  }

  /// It was detached before the end of the link that has made it.
  @Test func whatWasDetachedNeedsNothing() throws {
    context.register(Hooked.self) { Hooked() }
    context.register(String.self) { context in
      try context.require(Hooked.self).attachedContext = nil
      return "made"
    }
    let (made, reports) = MisuseLog.during { context.link(String.self) }
    #expect(made == "made" && reports.isEmpty, "\(reports)")
  }

  @Test func whatDetachesItselfNeedsNothing() async throws {
    let context = context
    context.register(Leaver.self) { Leaver() }
    context.register(Leaver.self, named: "async") {
      await Task.yield()
      return Leaver()
    }
    let (found, reports) = try await MisuseLog.during {
      let found = (context.link(Leaver.self), try await context.obtain(Leaver.self, named: "async"))
      return [found.0, found.1]
    }
    #expect(found.allSatisfy { $0?.attachedContext == nil } && reports.isEmpty)
  }

  @Test func aFactoryMayDetachTheObject() throws {
    let screen = Hooked()
    context.register((any Store).self) {
      screen.attachedContext = nil
      return Disk()
    }
    let (_, reports) = MisuseLog.during { withAppContext(UDIContext(tag: "App")) { screen.attachedContext = context } }
    #expect(screen.tags == [] && reports.isEmpty)
  }

  @Test func onlyTheWrapperItselfIsFilled() {
    let count = Count()
    context.register(Int.self) {
      count.add()
      return count.now
    }
    let object = Spellings().attached(to: context)
    #expect(object.limit == 1 && count.now == 1 && object.lazily == nil)
  }

  /// The compiler accepts this class without any unsafe construct.
  @MainActor @Test func anyThreadMayAttachAnObjectOfTheMainActor() async {
    provideDisks()
    let panel = Panel().attached(to: context)
    let attaching = Task.detached { for _ in 0..<1000 { _ = panel.attached(to: self.context) } }
    for _ in 0..<1000 { #expect(panel.store is Disk) }
    await attaching.value
  }

  private nonisolated func provideDisks() { context.register((any Store).self, lifetime: .unique) { Disk() } }

  @Test func whatWasSetStays() {
    let screen = Screen()
    let own = Disk()
    screen.store = own
    context.register((any Store).self) {
      Issue.record("nothing has to be looked up")
      return Disk()
    }
    screen.attachedContext = context
    #expect(screen.store === own)
  }

  @Test func whatIsMissingIsReportedWhereTheObjectIsAttached() throws {
    let detail = Detail<Int>()
    context.provide(Disk(), as: (any Store).self)
    let line = #line + 1
    let (_, reports) = MisuseLog.during { _ = detail.attached(to: context) }
    #expect(reports.map(\.kind) == [.needNotMet, .needNotMet])
    #expect(reports.allSatisfy { $0.fileID == #fileID && $0.line == line })
    let text = try #require(reports.first).message
    #expect(text.contains("Detail<Swift.Int>.title needs it") && text.contains(#"Swift.String named "title""#))
    #expect(text.contains(#""context": nothing"#))
    // What is there works, and what comes later is found by the first read.
    #expect(detail.store is Disk)
    context.provide("late", as: String.self, named: "title")
    #expect(detail.title == "late")
  }

  @Test func aFactoryThatThrowsIsReported() throws {
    struct Broken: Error {}
    context.register((any Store).self) { throw Broken() }
    let (_, reports) = MisuseLog.during { Screen().attachedContext = context }
    #expect(reports.map(\.kind) == [.needNotMet])
    let report = try #require(reports.first)
    #expect(report.message.contains("Broken()") && report.fileID == #fileID, "without a call, the property's line")
  }

  @MainActor @Test func anObjectThatAProviderMadeIsFilledAtTheEndOfTheLink() throws {
    context.register((any Pair).self, lifetime: .context) {
      PairObject()
    }.onCreate { _, pair in
      #expect((pair as? PairObject)?.partner is PartnerObject, "before onCreate")
    }
    context.register((any Partner).self, lifetime: .context) { PartnerObject() }
    let pair = try #require(context.link((any Pair).self) as? PairObject)
    #expect((pair.partner as? PartnerObject)?.pair === pair)
  }

  /// It is filled after the hook, but a read looks it up.
  @MainActor @Test(arguments: [UDILifetime.context, .unique, .graph])
  func theHookOfAnObjectThatAProviderMadeMayReadIt(_ lifetime: UDILifetime) throws {
    context.register((any Store).self, lifetime: .unique) { Disk() }
    context.register(Screen.self, lifetime: lifetime) {
      let screen = Screen()
      screen.looksInHook = true
      return screen
    }
    let screen = try context.require(Screen.self)
    #expect(screen.seen != nil && screen.seen === screen.store)
  }

  /// What `obtain` would make is reported once for the property that needs it.
  @Test(arguments: [UDILifetime.context, .unique])
  func whatIsAsynchronousIsReportedOnce(_ lifetime: UDILifetime) async throws {
    context.register((any Store).self, lifetime: lifetime) { () async in Disk() }
    context.provide(7, as: Int.self)
    context.register(Hooked.self, lifetime: lifetime) { Hooked() }
    let (_, obtained) = try await MisuseLog.during { try await context.obtain(Hooked.self) }
    #expect(obtained.map(\.kind) == [.needNotMet])
    let child = try context.makeChild(tag: "child")
    child.register(Hooked.self, lifetime: lifetime) { Hooked() }
    let (_, linked) = MisuseLog.during { child.link(Hooked.self) }
    #expect(linked.map(\.kind) == [.needNotMet])
  }

  @MainActor @Test func aCircleThatCannotBeMetIsReportedWithItsPath() throws {
    let line = #line + 1
    context.register((any Pair).self, lifetime: .unique) { PairObject() }
    context.register((any Partner).self, lifetime: .unique) { PartnerObject() }
    let (_, reports) = MisuseLog.during { #expect(context.link((any Pair).self) != nil) }
    #expect(reports.map(\.kind) == [.needNotMet])
    let report = try #require(reports.first)
    #expect(report.message.contains("Pair → UDITests.(private).Partner → UDITests.(private).Pair: "))
    #expect(report.line == line + 1, "the registration of the object whose need is not met")
  }

  @MainActor @Test func anObjectThatIsProvidedIsFilledAtOnce() {
    context.provide(Disk(), as: (any Store).self)
    let screen = Screen()
    screen.looksInHook = true
    context.provide(screen, as: Screen.self)
    #expect(screen.seen is Disk)
  }

  @Test func anAsynchronousFactorysObjectIsFilled() async throws {
    let made = Count()
    context.register((any Store).self) {
      made.add()
      return Disk()
    }
    context.register(Album.self, lifetime: .context) { _ async in Album() }
    let album = try await context.obtain(Album.self)
    #expect(made.now == 1 && album.isFilled && made.now == 1)
  }

  @Test func anActorsPropertiesAreLookedUpWhenTheyAreRead() async {
    let made = Count()
    context.register((any Store).self) {
      made.add()
      return Disk()
    }
    let desk = Desk().attached(to: context)
    #expect(made.now == 0)
    #expect(await desk.read() is Disk)
    #expect(made.now == 1)
  }

  @MainActor @Test func onTheMainActor() {
    context.provide(TimelineModel(), as: (any Model).self)
    let window = Window().attached(to: context)
    context.unregister(UDIKey<any Model>())
    #expect(window.model is TimelineModel)
  }

  @Test func objectsAttachOthersWhereTheyAre() async {
    let outer = Guest().attached(to: context)
    #expect(Guest().attached(to: outer).attachedContext === context)
    let app = UDIContext(tag: "App")
    withAppContext(app) { #expect(Guest().attached(to: Guest()).attachedContext === app) }
    // The context of an object that a context owns can go before the object does.
    var owner: UDIContext? = UDIContext(tag: "owner")
    let orphan = owner!.provide(Guest(), as: Guest.self).link()!
    owner = nil
    let late = Guest()
    let (_, reports) = MisuseLog.during { _ = late.attached(to: orphan) }
    #expect(reports.map(\.kind) == [.contextGone] && late.attachedContext == nil)
  }
}

private final class Guest: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
}

private final class Album: UDIFinalObject, @unchecked Sendable {
  // Unchecked: only one test uses an instance, one step after another.
  let _attachedContext = UDIAttachment()
  @Required var store: any Store
  var isFilled: Bool { store is Disk }
}
