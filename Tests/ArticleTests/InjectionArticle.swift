import Observation
import Testing
import UDI

// The code in "Declaring dependencies": `.ci/articles` compares it with the article.

struct InjectionArticle {
  protocol Clock: Sendable {}
  protocol Store: Sendable {}
  protocol Player: Sendable {}
  protocol Printer: Sendable {}
  struct SystemClock: Clock, Store, Player, Printer {}

  final class Screen: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Linked var clock: (any Clock)?
    @Required var store: any Store
    @Linked(named: "preview", keeps: .never) var player: (any Player)?
  }

  final class Report: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    var clock: (any Clock)?
    var printer: (any Printer)?
    var title = ""
  }

  @Test func declared() {
    let context = UDIContext(tag: "App")
    context.provide(SystemClock(), as: (any Clock).self)
    context.provide(SystemClock(), as: (any Store).self)
    context.provide(SystemClock(), as: (any Player).self, named: "preview")
    let screen = Screen().attached(to: context)
    #expect(screen.clock != nil && screen.store is SystemClock && screen.player != nil)
  }

  nonisolated protocol Session: AnyObject, Sendable { var user: String { get } }
  nonisolated final class LiveSession: Session {
    let user = "Ann"
  }

  @MainActor @Observable final class Toolbar: @MainActor UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @ObservationIgnored @Followed var session: (any Session)?
    var title: String { session?.user ?? "Log in" }
  }

  @MainActor final class TitleModel: @MainActor UDIObject {
    let _attachedContext = UDIAttachment()
    private(set) var title = ""
    func didAttachContext() {
      follow((any Session).self) { model, session in model.title = session?.user ?? "Log in" }
    }
  }

  @MainActor @Test(.timeLimit(.minutes(10))) func followed() async {
    let (context, session) = (UDIContext(tag: "App"), LiveSession())
    let (toolbar, model) = (Toolbar().attached(to: context), TitleModel().attached(to: context))
    #expect(model.title == "Log in")
    let (changes, change) = AsyncStream<Void>.makeStream()
    withObservationTracking {
      #expect(toolbar.title == "Log in")
    } onChange: {
      change.finish()
    }
    context.bind(session, as: (any Session).self)
    for await _ in changes {}
    #expect(toolbar.title == "Ann")
    while model.title != "Ann" { await Task.yield() }
  }

  @MainActor @Test func rules() {
    let context = UDIContext(tag: "App")
    context.provide(SystemClock(), as: (any Printer).self, named: "office")
    let report = Report()
    context.rules(for: Report.self)
      .inject(\.clock)
      .inject(\.printer, named: "office")
      .inject { report, context in report.title = context.tag }
    context.inject(into: report)
    #expect(report.clock == nil && report.printer != nil && report.title == "App")
  }
}
