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
    context.register((any Store).self) {
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
    } onCreate: { _, pair in
      #expect((pair as? PairObject)?.partner is PartnerObject, "before onCreate")
    }
    context.register((any Partner).self, lifetime: .context) { PartnerObject() }
    let pair = try #require(context.link((any Pair).self) as? PairObject)
    #expect((pair.partner as? PartnerObject)?.pair === pair)
  }

  @MainActor @Test func aCircleThatCannotBeMetIsReportedWithItsPath() throws {
    let line = #line + 1
    context.register((any Pair).self) { PairObject() }
    context.register((any Partner).self) { PartnerObject() }
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
