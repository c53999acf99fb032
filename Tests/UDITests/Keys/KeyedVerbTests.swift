import Testing
import UDI

private protocol Serving: AnyObject, Sendable {}
private final class Server: Serving {}
private protocol Painting: AnyObject {}
private final class Painter: Painting {}

extension UDIKey<any Serving> {
  fileprivate static var service: Self { Self() }
  fileprivate static var backup: Self { Self(named: "backup") }
}

extension UDIKey<any Painting> {
  @MainActor fileprivate static var painter: Self { Self(named: "painter") }
}

private final class Screen: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required(named: UDIKey.backup.name) var backup: any Serving
  @Linked(named: UDIKey.service.name) var service: (any Serving)?
}

@MainActor private final class Canvas: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required(named: UDIKey.painter.name) var painter: any Painting
  @Linked(named: UDIKey.painter.name, keeps: .never) var other: (any Painting)?
}

@Suite struct KeyedVerbTests {
  let context = UDIContext(tag: "context")

  @Test func whatIsOfferedUnderAKeyIsFoundUnderIt() async throws {
    let line = #line + 1
    let registration = context.register((any Serving).self, lifetime: .context) { Server() }
    #expect(registration.key == .service && registration.line == line)
    let backup = Server()
    context.provide(backup, as: (any Serving).self, named: UDIKey.backup.name)
    let screen = Screen().attached(to: context)
    #expect(screen.backup === backup && screen.service === context.link(.service) && screen.service != nil)
    context.register((any Serving).self, named: UDIKey.backup.name, replaces: false) { _ in Server() }
    #expect(context.link(.backup) === backup)
    let bound = Server()
    context.bind(bound, as: (any Serving).self)
    #expect(context.link(.service) === bound)
    let other = Server()
    screen.bind(other, as: (any Serving).self)
    var updates = context.updates(of: (any Serving).self).makeAsyncIterator()
    #expect(await updates.next() as? Server === other)
  }

  @MainActor @Test func onTheMainActorWhatIsNotSendable() async {
    context.register((any Painting).self, named: UDIKey.painter.name, lifetime: .context) { Painter() }
    let canvas = Canvas().attached(to: context)
    #expect(canvas.painter === canvas.other)
    context.register((any Painting).self, named: UDIKey.painter.name, replaces: true) { _ in Painter() }
    #expect(canvas.painter !== canvas.other)
    let painter = Painter()
    context.provide(painter, as: (any Painting).self, named: UDIKey.painter.name, replaces: true)
    #expect(canvas.other === painter)
    let bound = Painter()
    context.bind(bound, as: (any Painting).self, named: UDIKey.painter.name)
    var updates = context.updates(of: (any Painting).self, named: UDIKey.painter.name).makeAsyncIterator()
    #expect(await updates.next() as? Painter === bound)
  }

  @Test func aNameGivesItsText() {
    #expect(UDIName("two\nlines").text == "two\nlines" && UDIName(5).text == "Swift.Int 5")
  }
}
