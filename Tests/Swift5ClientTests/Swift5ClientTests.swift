/// The classic use in a module in the Swift 5 language mode: plain classes, plain protocols, mutable state.
import Foundation
import Testing
import UDI

protocol Player: AnyObject {
  var volume: Int { get set }
  func play() -> String
}

class Radio: UDIObject, Player {
  let _attachedContext = UDIAttachment()
  var volume = 3
  var player: (any Player)?
  var again: (any Player)?

  func didAttachContext() {
    bind(self, as: (any Player).self)
    link(\.player)
    link(&again)
  }

  func play() -> String { "static" }
}

final class CarRadio: Radio {
  override func didAttachContext() {
    super.didAttachContext()
    volume = 11
  }
}

protocol Weather: Sendable {
  var degrees: Int { get }
}

final class Station: UDIObject, Weather {
  let _attachedContext = UDIAttachment()
  let degrees = 21

  func didAttachContext() { bind(self, as: (any Weather).self) }
}

/// Declared dependencies, of a plain protocol with state.
class Dash: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var player: (any Player)?
  @Linked(keeps: .never) var inLine: (any Player)?
  @Linked(keeps: .weakly) var weakly: (any Player)?
  @Required var weather: any Weather
  @AppLinked var app: (any Weather)?
  func didAttachContext() {}
}

/// Filled by rules.
class Cassette {
  var player: (any Player)?
  var weather: (any Weather)?
}

@MainActor
class Dial: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  var weather: (any Weather)?

  func didAttachContext() { link(\.weather) }
}

actor Recorder: UDIObject {
  let _attachedContext = UDIAttachment()
  var weather: (any Weather)?

  nonisolated func didAttachContext() {}

  func record() -> Int? {
    link(&weather)
    return weather?.degrees
  }
}

/// No isolation at all, as is usual in this mode.
func tune(_ context: UDIContext) -> Int? {
  context.link((any Player).self)?.volume += 1
  return context.link((any Player).self)?.volume
}

/// Without isolation, too.
func fill(_ cassette: Cassette, in context: UDIContext) -> Int {
  context.rules(for: Cassette.self).inject(\.player).inject(\.weather, search: .local)
  return context.inject(into: cassette)
}

/// Calls a verb with a type that is not `Sendable`, on whatever thread it runs.
func callWithoutIsolation(_ verb: String) {
  let context = UDIContext(tag: "car")
  let radio = Radio()
  switch verb {
  case "link": _ = tune(context)
  case "object link": _ = Dash().attached(to: context).linkInLine((any Player).self)
  case "object require": _ = try? Dash().attached(to: context).require((any Player).self)
  case "object require by key": _ = try? Dash().attached(to: context).require(UDIKey<any Player>(named: "front"))
  case "object link with": _ = Dash().attached(to: context).link((any Player).self, with: 5)
  case "object linkAll": _ = Dash().attached(to: context).linkAll((any Player).self)
  case "object bind": Dash().attached(to: context).bind(radio, as: (any Player).self)
  case "bind": context.bind(radio, as: (any Player).self)
  case "provide": context.provide(radio)
  case "register": context.register(Radio.self) { Radio() }
  case "require": _ = try? context.require((any Player).self)
  case "linkAll": _ = context.linkAll((any Player).self)
  case "rules": context.rules(for: Cassette.self).inject(\.player)
  default: context.inject(into: radio)
  }
}

/// A plain class as a module, and a plain value.
class RadioModule: UDIModule {
  var count = 0
  func register(in context: UDIContext) {
    count += 1
    context.register((any Player).self, lifetime: .context) { Radio() }
  }
}

struct StationModule: UDIModule {
  let radio: RadioModule
  func register(in context: UDIContext) {
    context.register((any Weather).self, lifetime: .context) { Station() }
    context.install(radio)
  }
}

/// Without isolation, too.
func install(_ module: RadioModule, in context: UDIContext) { context.install(module, module) }

/// Asynchronous initialisers, with and without isolation, and of what is not `Sendable`.
final class Observatory: Weather {
  let degrees: Int
  init(degrees: Int?) async throws { self.degrees = degrees ?? 18 }
}

@MainActor final class Panel {
  let player: any Player, weather: any Weather
  init(player: any Player, weather: any Weather) async { (self.player, self.weather) = (player, weather) }
}

/// Without isolation, too.
func registerInitialiser(in context: UDIContext) {
  context.register((any Weather).self, lifetime: .context, using: Observatory.init(degrees:))
}

@Suite struct Swift5Client {
  @Test @MainActor func asynchronousInitialisers() async throws {
    let context = UDIContext(tag: "car")
    registerInitialiser(in: try context.makeChild(tag: "trailer"))
    #expect(try await context.obtain((any Weather).self).degrees == 18)
    context.register((any Weather).self, using: Observatory.init(degrees:))
    context.register((any Player).self) { Radio() }
    context.register(using: Panel.init)
    #expect(try await context.obtain(Panel.self).weather.degrees == 18)
  }

  @Test @MainActor func modules() {
    let context = UDIContext(tag: "car")
    let module = RadioModule()
    install(module, in: context)
    context.install(StationModule(radio: module))
    #expect(module.count == 1)
    #expect(context.link((any Player).self)?.play() == "static" && context.link((any Weather).self)?.degrees == 21)
  }

  @Test @MainActor func plainClassWithMutableState() {
    let context = UDIContext(tag: "car")
    let radio = CarRadio().attached(to: context)
    #expect(radio.player === radio)
    #expect(radio.again === radio)
    #expect(tune(context) == 12)
    #expect(radio.linkInLine((any Player).self)?.play() == "static")
    radio.player = nil
    radio.again = nil
  }

  @MainActor @Test func rulesForAPlainClass() throws {
    let context = UDIContext(tag: "car")
    let (radio, station) = (
      Radio().attached(to: context), Station().attached(to: try context.makeChild(tag: "trailer"))
    )
    let cassette = Cassette()
    #expect(fill(cassette, in: context) == 1)
    #expect(cassette.player === radio && cassette.weather == nil)
    station.attachedContext = context
    #expect(context.inject(into: cassette) == 2)
    #expect(cassette.weather?.degrees == 21)
    withExtendedLifetime(station) {}
  }

  /// The compiler says nothing here; debug builds stop.
  @Test(arguments: [
    "link", "bind", "provide", "register", "require", "linkAll", "rules", "inject", "object link",
    "object require", "object require by key", "object link with", "object linkAll", "object bind",
  ])
  func inTheBackgroundDebugBuildsStop(_ verb: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [verb] in
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        callWithoutIsolation(verb)
        done.signal()
      }
      done.wait()
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      output.contains("is not Sendable, so it can be bound, registered, looked up and used on the main actor only"))
  }

  @Test @MainActor func mainActorClass() {
    let context = UDIContext(tag: "car")
    let station = Station().attached(to: context)
    let dial = Dial().attached(to: context)
    #expect(dial.weather?.degrees == 21)
    withExtendedLifetime(station) {}
  }

  @Test func actorClass() async {
    let context = UDIContext(tag: "car")
    let station = Station().attached(to: context)
    #expect(await Recorder().attached(to: context).record() == 21)
    withExtendedLifetime(station) {}
  }

  @MainActor @Test func declaredDependencies() {
    let context = UDIContext(tag: "car")
    let (radio, station) = (Radio().attached(to: context), Station().attached(to: context))
    let dash = Dash().attached(to: context)
    dash.player?.volume = 7
    #expect(radio.volume == 7 && dash.inLine === radio && dash.weakly === radio && dash.weather.degrees == 21)
    withAppContext(context) { #expect(dash.app?.degrees == 21) }
    withExtendedLifetime(station) {}
  }
}
