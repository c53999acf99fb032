/// The same classic use in a module whose default isolation is the main actor. The code need not mention concurrency.
import Testing
public import UDI

/// A plain protocol, without `Sendable`, with a `var`.
protocol Clock: AnyObject {
  var now: Int { get set }
}

/// The classic object: it binds itself and links in the same hook.
class Screen: UDIObject, Clock {
  let _attachedContext = UDIAttachment()
  var now = 7
  var clock: (any Clock)?
  var again: (any Clock)?
  var readings = 0

  func didAttachContext() {
    bind(self, as: (any Clock).self)
    link(\.clock)
    link(&again)
    linkInLine((any Clock).self)?.now += 1
  }
}

final class Detail: Screen {
  override func didAttachContext() {
    super.didAttachContext()
    readings += 1
  }
}

/// Names as an enum, whose `Hashable` conformance belongs to the main actor here.
enum Slot: String {
  case left, right
}

nonisolated protocol Log: Sendable {
  func line() -> String
}

nonisolated final class Console: UDIObject, Log {
  let _attachedContext = UDIAttachment()
  func didAttachContext() { bind(self, as: (any Log).self) }
  func line() -> String { "ready" }
}

actor Worker: UDIObject {
  let _attachedContext = UDIAttachment()
  var log: (any Log)?
  nonisolated func didAttachContext() {}
  func work() -> String? {
    link(&log)
    return log?.line()
  }
}

/// Holds a scope. Its `deinit`, which the compiler writes, belongs to the main actor.
final class Window {
  let scope: UDIContext
  init(in root: UDIContext) throws { scope = try root.makeScope(tag: "window") }
}

@Suite struct MainActorClient {
  /// Such a `deinit` hides the task's reporter from what it releases.
  @Test func whatAnObjectReleasesUnclosedIsReportedToTheTasksReporter() throws {
    nonisolated(unsafe) var kinds: [UDIMisuse.Kind] = []
    // Everything runs on the main actor.
    try withReporter(UDIReporter { unsafe kinds.append($0.kind) }) {
      let root = UDIContext(tag: "root")
      root.register((any Log).self, lifetime: .scope) {
        Console()
      }.onClose { _ in
      }
      let window = try Window(in: root)
      window.scope.provide(1).onClose { _ in }
      _ = window.scope.link((any Log).self)
      window.scope.removeFromParent()
    }
    #expect(unsafe kinds == [.unclosed, .unclosed])
  }

  @Test func classicObject() {
    let context = UDIContext(tag: "window")
    let screen = Detail().attached(to: context)
    #expect(screen.clock === screen)
    #expect(screen.again === screen)
    #expect(screen.now == 8)
    #expect(screen.readings == 1)
    #expect(context.link((any Clock).self)?.now == 8)
    screen.clock = nil
    screen.again = nil
  }

  @Test func namesOfAnEnum() {
    let context = UDIContext(tag: "window")
    let (left, right) = (Screen(), Screen())
    context.bind(left, as: (any Clock).self, named: UDIName(Slot.left))
    context.bind(right, as: (any Clock).self, named: UDIName(Slot.right))
    #expect(context.link((any Clock).self, named: UDIName(Slot.right)) === right)
    #expect(context.linkAll((any Clock).self).map { $0 === left } == [true, false])
  }

  @Test func namesOfAnEnumGoAnywhere() async {
    let context = UDIContext(tag: "window")
    let console = Console()
    context.bind(console, as: (any Log).self, named: UDIName(Slot.left))
    let (left, right) = (UDIName(Slot.left), UDIName(Slot.right))
    #expect(left == UDIName(Slot.left) && left != right && left.description.hasSuffix("Slot.left"))
    let found = await Task.detached {
      (context.link((any Log).self, named: left), context.link((any Log).self, named: right))
    }.value
    #expect(found.0 as? Console === console && found.1 == nil)
  }

  @Test func sendableFromElsewhere() async {
    let context = UDIContext(tag: "window")
    let console = Console().attached(to: context)
    #expect(await Worker().attached(to: context).work() == "ready")
    withExtendedLifetime(console) {}
  }

  @Test func declaredDependencies() {
    let context = UDIContext(tag: "window")
    let (screen, console) = (Screen().attached(to: context), Console().attached(to: context))
    let dashboard = Dashboard().attached(to: context)
    #expect(dashboard.clock === screen && dashboard.inLine === screen && dashboard.weakly === screen)
    #expect(dashboard.log.line() == "ready")
    withAppContext(context) { #expect(dashboard.app === screen) }
    withExtendedLifetime(console) {}
  }

  @Test func rulesForPlainClasses() {
    let context = UDIContext(tag: "window")
    let screen = Screen().attached(to: context)
    context.rules(for: Report.self).inject(\.clock).inject { @MainActor report, context in report.title = context.tag }
    context.rules(for: (any Titled).self).inject { @MainActor titled, _ in titled.title += "!" }
    let report = Report()
    #expect(context.inject(into: report) == 3)
    #expect(report.clock === screen && report.title == "window!")
  }

  @Test func providersOfPlainClasses() throws {
    let context = UDIContext(tag: "window")
    context.install(ScreenModule())
    let screen = try #require(context.link((any Clock).self) as? Screen)
    #expect(screen.attachedContext == context && context.link((any Clock).self) === screen)
    #expect(try context.require(Screen.self) === screen)
    context.register((any Clock).self, named: "plain") { Screen() }
    #expect(context.link((any Clock).self, named: "plain") != nil)
    context.register(Detail.self) { (_, now: Int) in
      let detail = Detail()
      detail.now = now
      return detail
    }.onCreate { _, detail in
      detail.readings += 30
    }
    #expect(context.link(Detail.self, with: 30)?.readings == 31)
    context.register((any Log).self, lifetime: .weak) { Console() }
    #expect(context.link((any Log).self)?.line() == "ready")
  }
}

/// Asynchronous initialisers, with and without isolation.
final class Gauge {
  let clock: any Clock, log: any Log
  init(clock: any Clock, log: any Log) async throws { (self.clock, self.log) = (clock, log) }
}

nonisolated final class LogFile: Log {
  init(path: String?) async throws {}
  func line() -> String { "line" }
}

@Suite struct MainActorClientInitialisers {
  @Test func asynchronous() async throws {
    let context = UDIContext(tag: "window")
    context.register((any Clock).self) { Screen() }
    context.register((any Log).self, lifetime: .context, using: LogFile.init)
    context.register(using: Gauge.init)
    let gauge = try await context.obtain(Gauge.self)
    #expect(gauge.log.line() == "line" && gauge.clock is Screen)
  }

  @Test nonisolated func withoutIsolation() async throws {
    let context = UDIContext(tag: "window")
    context.register((any Log).self, using: LogFile.init)
    #expect(try await context.obtain((any Log).self).line() == "line")
  }
}

/// A protocol that refines both: its classes belong to no actor.
nonisolated protocol Storing: UDIObject, Sendable {
  var name: String { get }
}
final class Store: Storing {
  let _attachedContext = UDIAttachment()
  let name = "store"
  func didAttachContext() { bind(self, as: (any Storing).self) }
}

/// A protocol that refines `UDIObject` alone.
protocol Panel: UDIObject {
  var title: String { get set }
}
final class Sidebar: @MainActor Panel {
  let _attachedContext = UDIAttachment()
  var title = "sidebar"
  func didAttachContext() { bind(self, as: (any Panel).self) }
}

/// A public module, which any code can install.
nonisolated public struct PublicServices: UDIModule, Sendable {
  let line: String
  /// Registers a log.
  public func register(in context: UDIContext) {
    context.register((any Log).self, named: UDIName(line)) { Console() }
  }
}

@Suite struct MainActorClientProtocols {
  @Test nonisolated func refiningBoth() throws {
    let context = UDIContext(tag: "window")
    let store = Store().attached(to: context)
    #expect(try context.require((any Storing).self).name == "store")
    withExtendedLifetime(store) {}
  }

  @Test func refiningObjects() throws {
    let context = UDIContext(tag: "window")
    let sidebar = Sidebar().attached(to: context)
    #expect(try context.require((any Panel).self) === sidebar)
  }
}

@Suite struct MainActorClientModules {
  @Test nonisolated func publicModules() {
    let context = UDIContext(tag: "window")
    context.install(PublicServices(line: "main"))
    #expect(context.link((any Log).self, named: "main") != nil)
  }

  @Test func modulesOfPlainClasses() throws {
    let context = UDIContext(tag: "window")
    context.install(ScreenModule(), ScreenModule())
    let screen = try #require(context.link((any Clock).self))
    // The module is installed once, so what it has made stays.
    context.install(ScreenModule())
    #expect(context.link((any Clock).self) === screen)
    // A module that is a class instance, with state of the main actor's.
    let counting = CountingModule()
    context.install(counting, counting)
    context.install(counting)
    #expect(counting.count == 1 && context.defaultLifetime == .context)
    // A value with properties.
    context.install(NumberModule(number: 1))
    #expect(context.link((any Clock).self, named: UDIName(1)) is Screen)
  }

  @Test func modulesOfAnyThread() async {
    let context = UDIContext(tag: "window")
    context.install(LogModule(line: "ready"))
    let line = await Task.detached {
      context.install(LogModule(line: "twice"))
      return context.link((any Log).self)?.line()
    }.value
    #expect(line == "ready")
    // Two modules with different values are two modules.
    #expect(context.linkAll((any Log).self).count == 2)
  }
}

/// A class of the main actor's, with state.
final class CountingModule: UDIModule {
  var count = 0
  func register(in context: UDIContext) {
    count += 1
    context.defaultLifetime = .context
    context.register(Screen.self, replaces: true) { @MainActor in Screen() }
  }
}

/// A value of the main actor's.
struct NumberModule: UDIModule {
  let number: Int
  func register(in context: UDIContext) {
    context.register((any Clock).self, named: UDIName(number), lifetime: .context) { [number] in
      let screen = Screen()
      screen.now = number
      return screen
    }
  }
}

/// A value that belongs to no actor.
nonisolated struct LogModule: UDIModule {
  let line: String
  func register(in context: UDIContext) {
    context.register((any Log).self, named: line == "ready" ? nil : UDIName(line), lifetime: .context) { Console() }
  }
}

protocol Titled: AnyObject {
  var title: String { get set }
}

/// Not a `UDIObject`: rules fill it.
final class Report: Titled {
  var clock: (any Clock)?
  var title = ""
}

/// Declared dependencies, of plain protocols.
final class Dashboard: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var clock: (any Clock)?
  @Linked(keeps: .never) var inLine: (any Clock)?
  @Linked(keeps: .weakly) var weakly: (any Clock)?
  @Required var log: any Log
  @AppLinked var app: (any Clock)?
  func didAttachContext() {}
}

/// A module in the module: it belongs to the main actor, and may register what is not `Sendable`.
struct ScreenModule: UDIModule {
  func register(in context: UDIContext) {
    context.register(Screen.self, lifetime: .context) { @MainActor in Screen() }.implements((any Clock).self)
  }
}
