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
