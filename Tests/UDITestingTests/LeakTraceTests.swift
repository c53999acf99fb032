import Foundation
import Synchronization
import Testing
import UDI
import UDITesting

/// Twelve leaks of the kinds that programs have. Each is found with its trace, and is gone once it is mended.
struct LeakTraceTests {
  /// The traces of what outlives an operation. The operation must leave nothing behind that the caller holds.
  private func traces(_ operation: () throws -> Void) throws -> [String?] {
    try leaks { try operation() }.map(\.trace)
  }

  @Test("A closure that captures self")
  func closure() throws {
    let found = try traces {
      let model = Model().attached(to: AppContext)
      model.action = { model.count += 1 }
    }
    #expect(found == ["Model.action {captures} → Model"])
    expectNoLeaks {
      let model = Model().attached(to: AppContext)
      model.action = { [weak model] in model?.count += 1 }
    }
    expectNoLeaks {
      let model = Model().attached(to: AppContext)
      model.action = { [unowned model] in model.count += 1 }
    }
  }

  #if !canImport(Darwin)
    @Test("A timer's closure")
    func timer() throws {
      final class Ticker: Known {
        var timer: Timer?
      }
      let found = try traces {
        let ticker = Ticker().attached(to: AppContext)
        ticker.timer = Timer(timeInterval: 1, repeats: true) { [ticker = Unchecked(ticker)] _ in ticker.value.count += 1
        }
      }
      #expect(found == ["Ticker.timer → Timer._fire {captures} → Ticker"])
      expectNoLeaks {
        let ticker = Ticker().attached(to: AppContext)
        ticker.timer = Timer(timeInterval: 1, repeats: true) { _ in }
      }
    }
  #endif

  @Test("A delegate that is held strongly")
  func delegate() throws {
    final class Picker: Known {
      var delegate: AnyObject?
    }
    final class MendedPicker: Known {
      weak var delegate: AnyObject?
    }
    final class Screen: Known {
      var picker: Known?
    }
    let found = try traces {
      let (screen, picker) = (Screen().attached(to: AppContext), Picker())
      screen.picker = picker
      picker.delegate = screen
    }
    #expect(found == ["Screen.picker → Picker.delegate → Screen"])
    expectNoLeaks {
      let (screen, picker) = (Screen().attached(to: AppContext), MendedPicker())
      screen.picker = picker
      picker.delegate = screen
    }
  }

  @Test("A dictionary of an object that lives on", .ownAppContext)
  @MainActor func dictionary() throws {
    final class Registry: Known {
      var screens: [String: [Known?]] = [:]
    }
    let registry = Registry()
    AppContext.bind(registry, as: Registry.self)
    let open = {
      let model = Model().attached(to: AppContext)
      registry.screens["checkout"] = [nil, model]
    }
    #expect(try traces(open) == [#"Registry.screens["checkout"][1] → Model"#])
    expectNoLeaks {
      open()
      registry.screens["checkout"] = nil
    }
  }

  @Test("An Any")
  func anything() throws {
    final class Cell: Known {
      var content: Any = 0
    }
    struct State {
      let offset = 0.5
      var selection: (index: Int, cell: Known)
    }
    let found = try traces {
      let cell = Cell().attached(to: AppContext)
      cell.content = State(selection: (1, cell))
    }
    #expect(found == ["Cell.content.selection.cell → Cell"])
    expectNoLeaks {
      let cell = Cell().attached(to: AppContext)
      cell.content = State(selection: (1, cell))
      cell.content = 0
    }
  }

  @Test("A lazy property")
  func lazyProperty() throws {
    final class Formatter {
      let owner: Known
      init(_ owner: Known) { self.owner = owner }
    }
    final class Report: Known {
      lazy var formatter: Formatter = Formatter(self)
    }
    let found = try traces {
      let report = Report().attached(to: AppContext)
      _ = report.formatter
    }
    #expect(found == ["Report.formatter → Formatter.owner → Report"])
    expectNoLeaks { _ = Report().attached(to: AppContext) }
  }

  @Test("A task: the only one of the twelve that has no trace")
  func task() async throws {
    let signal = Signal()
    let found = await leaks {
      let model = Unchecked(Model().attached(to: AppContext))
      Task {
        await signal.wait()
        model.value.count += 1
      }
      await Task.yield()
    }
    #expect(found.map(\.trace) == [nil])
    let guess = "Perhaps a task that began during the audit and has not ended; or else a global or local variable"
    #expect(found.first?.description.contains(guess) == true, "\(found)")
    signal.give()
    await expectNoLeaks {
      let model = Unchecked(Model().attached(to: AppContext))
      await Task { model.value.count += 1 }.value
    }
  }

  @Test("A context that a factory captures")
  func capturedContext() throws {
    var line = 0
    let found = try leaks {
      let session = try AppContext.makeChild(tag: "Session")
      line = #line + 1
      session.register((any Cart).self) { Basket(owner: session.tag.count) }
      AppContext.removeChild(session)
    }
    #expect(
      found.map(\.description) == [
        """
        The context "App / Session" is still alive. It is held: UDIContext "Session" {provider of \
        UDITestingTests.Cart, registered at UDITestingTests/LeakTraceTests.swift:\(line)} {captures} → \
        UDIContext "Session". Use the context that the factory is given.
        """
      ])
    try expectNoLeaks {
      let session = try AppContext.makeChild(tag: "Session")
      session.register((any Cart).self) { Basket(owner: $0.tag.count) }
      AppContext.removeChild(session)
    }
  }

  @Test("A cycle of three")
  func cycleOfThree() throws {
    final class First: Known { var next: Known? }
    final class Second: Known { var next: Known? }
    final class Third: Known { var next: Known? }
    func make(closed: Bool) {
      let (first, second, third) = (First(), Second().attached(to: AppContext), Third())
      first.next = second
      second.next = third
      if closed { third.next = first }
    }
    #expect(try traces { make(closed: true) } == ["Second.next → Third.next → First.next → Second"])
    expectNoLeaks { make(closed: false) }
  }

  @Test("A parent pointer")
  func parentPointer() throws {
    final class Row: Known { var table: Known? }
    final class Table: Known { var rows: Set<Row> = [] }
    func make(linked: Bool) {
      let (table, row) = (Table().attached(to: AppContext), Row().attached(to: AppContext))
      table.rows = [row]
      if linked { row.table = table }
    }
    #expect(try traces { make(linked: true) } == ["Table.rows[element] → Row.table → Table"])
    expectNoLeaks { make(linked: false) }
  }

  @Test("An actor's property", .ownAppContext)
  func actorProperty() async throws {
    actor Store {
      private var state = State.empty
      enum State {
        case empty
        case loaded(Unchecked<Model>, times: Int)
      }
      func keep(_ model: Unchecked<Model>?) { state = model.map { .loaded($0, times: 1) } ?? .empty }
    }
    let store = Store()
    AppContext.bind(store, as: Store.self)
    let found = await leaks { await store.keep(Unchecked(Model().attached(to: AppContext))) }
    #expect(found.map(\.trace) == ["Store.state.loaded.0.value → Model"])
    await expectNoLeaks {
      await store.keep(Unchecked(Model().attached(to: AppContext)))
      await store.keep(nil)
    }
  }

  @Test("A list of observers", .ownAppContext)
  @MainActor func observers() throws {
    final class Coordinator: Known {
      var handlers: [(Int) -> Void] = []
      func notify(_ handler: @escaping (Int) -> Void) { handlers.append(handler) }
    }
    let coordinator = Coordinator()
    AppContext.bind(coordinator, as: Coordinator.self)
    let open = {
      let model = Model().attached(to: AppContext)
      coordinator.notify { _ in }
      coordinator.notify { model.count += $0 }
    }
    #expect(try traces(open) == ["Coordinator.handlers[1] {captures} → Model"])
    expectNoLeaks {
      open()
      coordinator.handlers = []
    }
  }
}

/// Traces through what is less common than the twelve.
struct LeakTraceDetailTests {
  @Test("What a lock guards, though the runtime does not tell its type")
  func locks() throws {
    final class Guarded: Sendable, UDIObject {
      let _attachedContext = UDIAttachment()
      let before: Int8 = 1
      let objects = Mutex<[String: Guarded]>([:])
      let closures = Mutex<[@Sendable () -> Void]>([])
      let state = Mutex<(flag: Bool, other: Guarded?)>((true, nil))
      let after = "after"
      func didAttachContext() {}
    }
    let ways: [(@Sendable (Guarded) -> Void, String)] = [
      ({ guarded in guarded.objects.withLock { $0["x"] = guarded } }, #"Guarded.objects["x"] → Guarded"#),
      (
        { guarded in guarded.closures.withLock { $0.append { _ = guarded } } },
        "Guarded.closures[0] {captures} → Guarded"
      ),
      ({ guarded in guarded.state.withLock { $0.other = guarded } }, "Guarded.state → Guarded"),
    ]
    for (leak, trace) in ways {
      #expect(leaks { leak(Guarded().attached(to: AppContext)) }.map(\.trace) == [trace])
    }
    let weakly = leaks {
      let guarded = Guarded().attached(to: AppContext)
      guarded.closures.withLock { $0.append { [weak guarded] in _ = guarded } }
      guarded.closures.withLock { $0.append { [unowned guarded] in _ = guarded } }
    }
    #expect(weakly == [])
  }

  @Test("What contexts hold by their providers: instances, with arguments too, storages and contexts")
  func heldByContexts() throws {
    func trace(_ compose: (UDIContext, Model) throws -> Void) rethrows -> String? {
      let target = Model()
      let context = UDIContext(tag: "App")
      try compose(context, target)
      var traces = LeakTraces(to: [target], from: [context])
      return traces.trace(of: target)
    }
    let line = #line
    let file = "UDITestingTests/LeakTraceTests.swift"
    func provider(_ line: Int) -> String { "{provider of UDITestingTests.Box, registered at \(file):\(line)}" }
    let traces: [String?] = [
      trace { context, target in context.provide(Box(target)) },
      try trace { context, target in
        context.register(Box.self, lifetime: .context) { [box = Unchecked(target)] (_, number: Int) in Box(box.value) }
        _ = try context.require(Box.self, with: 1)
        _ = try context.require(Box.self, with: 2)
      },
      trace { context, target in
        context.register(Box.self) { [box = Unchecked(target)] in
          Box(box.value)
        }.onCreate { _, _ in
        }
      },
      try trace { context, target in
        try context.makeChild(tag: "Page").register(Box.self) { [box = Unchecked(target)] in Box(box.value) }
      },
      try trace { context, target in
        context.register(Box.self, lifetime: UDILifetime("shelf", storage: .custom { Shelf() })) {
          [box = Unchecked(target)] in Box(box.value)
        }
        _ = try context.require(Box.self)
      },
    ]
    let closing = trace { context, target in
      let captured = Unchecked(target)
      context.register(Closed.self, lifetime: .context) {
        Closed()
      }.onClose { _ in
        _ = captured.value
      }
    }
    #expect(closing?.hasSuffix("{captures}.value → Model") == true, "\(closing ?? "no trace")")
    for (index, trace) in traces.enumerated() {
      #expect(
        trace?.hasPrefix("UDIContext \"App\" ") == true && trace?.hasSuffix("→ Model") == true,
        "\(index): \(trace ?? "")")
    }
    #expect(traces[0] == "UDIContext \"App\" \(provider(line + 4)) → Box.model → Model")
    #expect(traces[3]?.contains("→ UDIContext \"App / Page\" {provider") == true)
  }

  @Test("What a provider keeps may live on, and leads to what it holds", .ownAppContext)
  func keptByProvider() throws {
    final class Cache: Sendable {
      let models = Mutex<[any AnyObject & Sendable]>([])
    }
    AppContext.register(Cache.self, lifetime: .context) { Cache() }
    let found = leaks {
      guard let cache = AppContext.link(Cache.self) else { return }
      cache.models.withLock { $0.append(Guest().attached(to: AppContext)) }
    }
    #expect(found.map(\.trace) == ["Cache.models[0] → Guest"])
  }

  @Test("What a value holds that a context owns", .ownAppContext)
  func heldByValue() throws {
    let line = #line + 2
    let found = leaks {
      AppContext.provide(GuestList(guests: [Guest().attached(to: AppContext)]))
    }
    #expect(
      found.map(\.trace) == [
        """
        UDIContext "App" {provider of UDITestingTests.GuestList, registered at \
        UDITestingTests/LeakTraceTests.swift:\(line)}.guests[0] → Guest
        """
      ])
  }

  @Test("An object that a variable of the test holds has no trace, and a thousand leaks take no time")
  func variables() {
    var kept: [Model] = []
    let found = leaks {
      for _ in 0..<1000 { kept.append(Model().attached(to: AppContext)) }
    }
    #expect(found.count == 1000 && found.allSatisfy { $0.trace == nil })
  }

  @Test("What a property with a wrapper keeps", .ownAppContext)
  func wrappers() {
    final class Reader: Known {
      @Required var guest: Guest
      @Linked var list: GuestList?
      @Linked(keeps: .weakly) var model: Model?
    }
    var kept: Reader?
    let found = leaks {
      let app = UDIContext(tag: "App")
      app.provide(Guest(), as: Guest.self)
      app.provide(GuestList(guests: [Guest().attached(to: app)]))
      kept = Reader().attached(to: app)
      #expect(kept?.list?.guests.count == 1)
    }
    // The reader keeps both guests and their context.
    #expect(found.map(\.className) == ["Reader"], "\(found)")
    #expect(found.map { $0.held.map(\.className) } == [["Guest", "Guest"]], "\(found)")
    withExtendedLifetime(kept) {}
  }

  @Test("What a property with a wrapper keeps leads to what it keeps itself", .ownAppContext)
  @MainActor func aCycleThroughAWrapper() {
    final class Editor: Known {
      @Required var model: Model
    }
    let found = leaks {
      let model = Model()
      let scope = UDIContext(tag: "scope")
      scope.bind(model, as: Model.self)
      let editor = Editor().attached(to: scope)
      model.action = { editor.count += 1 }
    }
    #expect(found.map(\.trace).contains("Model.action {captures} → Editor.model → Model"))
  }

  @Test("What only another leaked object holds is counted there")
  func heldByLeaked() {
    let parent = Model()
    let found = leaks {
      let child = Model().attached(to: AppContext)
      parent.attachedContext = AppContext
      parent.action = { _ = child }
    }
    #expect(found.map(\.trace) == [nil] && found.map { $0.held.map(\.className) } == [["Model"]])
  }
}

struct GuestList: Sendable { let guests: [Guest] }

/// What attached objects of these tests have in common.
class Known: UDIObject, Hashable {
  let _attachedContext = UDIAttachment()
  var count = 0
  func didAttachContext() {}
  static func == (left: Known, right: Known) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

final class Model: Known {
  var action: () -> Void = {}
}

final class Closed: Sendable {}
final class Box: Sendable {
  nonisolated(unsafe) let model: Model
  init(_ model: Model) { unsafe self.model = model }
}

/// Takes something to where the compiler asks for `Sendable`.
struct Unchecked<Value>: @unchecked Sendable {
  // Unchecked: in these tests, one thread uses it after the other.
  let value: Value
  init(_ value: Value) { self.value = value }
}
