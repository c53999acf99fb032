import Testing
import UDI

private class Form {
  var service: (any Service)?
  var loose: (any Loose)?
  var title = ""
}

private final class LongForm: Form, Printing {
  var printer: (any Service)?
}

private protocol Printing: AnyObject {
  var printer: (any Service)? { get set }
}

@MainActor private final class Window {
  var local: (any Local)?
  var title = ""
}

private protocol Page: AnyObject {}

@MainActor private final class Home: Page {
  var service: (any Service)?
  var title = ""
}

private protocol Titled: AnyObject, Sendable {}

@MainActor private class Sheet {}

@MainActor private final class LongSheet: Sheet, Titled {}

@Suite struct RuleTests {
  let context = UDIContext(tag: "context")
  let service = Plain("service")
  let loose = Plain("loose")
  let printer = Plain("printer")

  init() {
    context.bind(service, as: (any Service).self)
    context.bind(loose, as: (any Loose).self, named: "n")
    context.bind(printer, as: (any Service).self, named: "printer")
  }

  @MainActor @Test func rulesForAClassAddUp() {
    context.rules(for: Form.self).inject(\.service).inject(\.loose, named: "n")
    context.rules(for: Form.self).inject { form, context in form.title = context.tag }
    let form = Form()
    #expect(context.inject(into: form) == 3)
    #expect(form.service === service && form.loose?.label == "loose" && form.title == "context")
    #expect(context.inject(into: Plain()) == 0)
  }

  @MainActor @Test func rulesForSuperclassesAndProtocolsApply() {
    context.rules(for: Form.self).inject(\.service)
    context.rules(for: (any Printing).self).inject(\.printer, named: "printer")
    let (form, long) = (Form(), LongForm())
    #expect(context.inject(into: form) == 1 && context.inject(into: long) == 2)
    #expect(long.service === service && long.printer === printer)
  }

  @MainActor @Test func aMissLeavesTheProperty() {
    context.rules(for: Form.self).inject(\.service, named: "missing").inject(\.loose)
    let form = Form()
    form.service = printer
    #expect(context.inject(into: form) == 0)
    #expect(form.service === printer && form.loose == nil)
  }

  @MainActor @Test func rulesFromAboveComeFirst() throws {
    let child = try context.makeChild(tag: "child", search: .ancestors)
    let grandchild = try child.makeChild(tag: "grandchild")
    child.rules(for: Form.self).inject { form, context in form.title += " child" }
    context.rules(for: Form.self).inject { form, context in form.title += "root \(context.tag)" }
    context.rules(for: Form.self).inject(\.service)
    let form = Form()
    #expect(grandchild.inject(into: form) == 3)
    #expect(form.title == "root grandchild child" && form.service === service)
    #expect(context.inject(into: Form()) == 2)
  }

  @MainActor @Test func rulesOfTheMainActor() async {
    let counter = Counter()
    context.bind(counter, as: (any Local).self)
    context.rules(for: Window.self).inject(\.local).inject { @MainActor window, context in window.title = context.tag }
    let window = Window()
    let elsewhere = await Task.detached { [context] in context.inject(into: window) }.value
    #expect(elsewhere == 0 && window.local == nil)
    #expect(context.inject(into: window) == 2)
    #expect(window.local === counter && window.title == "context")
  }

  @MainActor @Test func rulesForASendableClassApplyToWhatIsNotKnownToBeSendable() {
    context.rules(for: Home.self).inject(\.service).inject { @MainActor home, _ in home.title = "home" }
    let home = Home()
    let page: any Page = home
    #expect(context.inject(into: page) == 2)
    #expect(home.service === service && home.title == "home")
    context.rules(for: Sheet.self).inject { @MainActor _, _ in }
    context.rules(for: (any Titled).self).inject { @MainActor _, _ in }
    let sheet = LongSheet()
    #expect(context.inject(into: sheet) == 2)
    #expect(context.inject(into: sheet as AnyObject) == 1, "a protocol leaves no trace of whether it is Sendable")
  }

  @MainActor @Test func rulesArePassedBetweenTasks() async {
    let counter = Counter()
    context.bind(counter, as: (any Local).self)
    let (forms, windows) = (context.rules(for: Form.self), context.rules(for: Window.self))
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { _ = forms.inject(\.service) }
        group.addTask { @MainActor in _ = windows.inject(\.local) }
      }
    }
    let (form, window) = (Form(), Window())
    #expect(context.inject(into: form) == 8 && context.inject(into: window) == 8)
    #expect(form.service === service && window.local === counter)
  }

  @MainActor @Test func rulesOfTheMainActorGoWithTheirContext() {
    weak var gone: UDIContext?
    do {
      let context = UDIContext(tag: "mortal")
      gone = context
      context.rules(for: Window.self).inject(\.local).inject { @MainActor _, _ in }
    }
    #expect(gone == nil)
  }

  @MainActor @Test func rulesOfASetUpBlockCount() {
    let context = UDIContext(tag: "context") { [service] context in
      context.bind(service, as: (any Service).self)
      context.rules(for: Form.self).inject { form, _ in form.title = "set up" }
    }
    let form = Form()
    #expect(context.inject(into: form) == 1 && form.title == "set up")
  }

  @Test func rulesGoWithTheirContext() throws {
    weak var gone: UDIContext?
    let watched = Tally()
    do {
      let context = UDIContext(tag: "mortal")
      gone = context
      let farewell = Farewell { watched.add() }
      context.rules(for: Form.self).inject { _, _ in _ = farewell }
      context.rules(for: Form.self).inject(\.service)
    }
    #expect(gone == nil && watched.count == 1)
  }
}
