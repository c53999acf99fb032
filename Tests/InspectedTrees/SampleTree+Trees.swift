import UDI

protocol Clock: AnyObject, Sendable {}
protocol Cart: AnyObject, Sendable {}
protocol Payment: AnyObject, Sendable {}
protocol Store: AnyObject, Sendable {}
protocol Theme: AnyObject, Sendable {}
protocol Editor: AnyObject, Sendable {}
final class SystemClock: Clock {}
final class Basket: Cart {}
final class CardPayment: Payment {}
final class Database: Store {}
final class DarkTheme: Theme {}
final class Notepad: Editor {}
/// Takes part in the tree, so its binding goes with it.
final class Guest: UDIObject, Cart {
  let _attachedContext = UDIAttachment()
  func didAttachContext() { bind(self, as: (any Cart).self, named: "guest") }
}
/// Looks things up, and is found by nobody.
final class CheckoutScreen: UDIObject {
  let _attachedContext = UDIAttachment()

  func didAttachContext() {
    _ = linkInLine((any Cart).self, named: "draft")
    _ = linkInLine((any Store).self)
  }
}
struct Failing: Error, CustomStringConvertible { let description: String }
private enum Side { case left }

extension SampleTree {
  /// - Parameter name: `shop`, `strange`, `random`, or `large`.
  convenience init?(named name: String) {
    switch name {
    case "shop", "strange", "random", "large":
      self.init(name, root: name == "strange" ? Self.strangeText : "App")
    default: return nil
    }
    switch name {
    case "shop": fillShop()
    case "strange": fillStrange()
    case "random": fillRandom()
    default: fillLarge()
    }
  }

  /// Something of everything.
  private func fillShop() {
    root.bind(hold(SystemClock()), as: (any Clock).self)
    root.register((any Store).self, lifetime: .context) { context in
      _ = context.link((any Clock).self)
      return Database()
    }
    root.register((any Theme).self, lifetime: .unique) { DarkTheme() }
    root.register((any Theme).self, named: "broken", lifetime: .context) { () -> any Theme in
      throw Failing(description: "theme.json cannot be read")
    }
    root.register(Failing.self, lifetime: .unique) { (_, text: String) in Failing(description: text) }
    _ = root.link((any Store).self)
    withReporter(.silent) { _ = root.link((any Theme).self, named: "broken") }
    do {
      let catalogue = try root.makeChild(tag: "Catalogue")
      // One is replaced, one moves to another context, and one dies.
      for _ in 1...2 { catalogue.bind(hold(DarkTheme()), as: (any Theme).self, named: "own") }
      let moved = hold(Notepad())
      catalogue.bind(moved, as: (any Editor).self, named: "moved")
      root.bind(moved, as: (any Editor).self, named: "moved")
      _ = Guest().attached(to: catalogue)
      let search = try catalogue.makeChild(tag: "Search", search: .ancestors)
      search.bind(hold(Notepad()), as: (any Editor).self)
      let checkout = try root.makeChild(tag: "Checkout")
      checkout.bind(hold(Basket()), as: (any Cart).self, named: "draft")
      hold(CheckoutScreen()).attachedContext = checkout
      _ = checkout.override(
        (any Payment).self, named: nil, with: CardPayment(), isSendable: true, fileID: #fileID, line: #line)
      let payment = try checkout.makeChild(tag: "Payment")
      // Nobody holds this one.
      payment.bind(Basket(), as: (any Cart).self)
      let request = try checkout.makeScope(tag: "request 1")
      request.bind(hold(CardPayment()), as: (any Payment).self)
      request.register((any Editor).self, lifetime: .weak) { Notepad() }
      try request.makeChild(tag: "Receipt").bind(hold(SystemClock()), as: (any Clock).self, named: UDIName(Side.left))
      try root.makeScope(tag: "request 2", search: .local).bind(hold(CardPayment()), as: (any Payment).self)
    } catch { fatalError("\(error)") }
  }

  static var strangeText: String { "</script><b>&amp;\"'\u{2028}\u{0}\\ \u{202E}x" }

  /// Texts that would break a page that is not careful.
  private func fillStrange() {
    for tag in ["", "/", "a/b", "%2F", "<img src=x onerror=alert(1)>", "<!--", "👩‍👩‍👧‍👦", "{data}", Self.strangeText] {
      do {
        let child = try root.makeChild(tag: tag)
        child.bind(hold(SystemClock()), as: (any Clock).self, named: UDIName(tag))
        if tag == "" { child.bind(hold(SystemClock()), as: (any Clock).self) }
        try child.makeChild(tag: "").bind(hold(Basket()), as: (any Cart).self)
      } catch { fatalError("\(error)") }
    }
    // One line replaces two bindings.
    for name in ["again", "again too", "again", "again too"] {
      root.bind(hold(SystemClock()), as: (any Clock).self, named: UDIName(name))
    }
    root.provide([Self.strangeText: 1])
  }

  /// 120 contexts with scopes anywhere, each with a few of a few dependencies. The seed never changes.
  private func fillRandom() {
    var random = Generator(state: 42)
    var contexts = [root]
    for number in 1..<120 {
      guard let parent = contexts.randomElement(using: &random) else { continue }
      let search = UDISearch.allCases.randomElement(using: &random)
      let isScope = Int.random(in: 0..<6, using: &random) == 0
      let child =
        isScope
        ? try? parent.makeScope(tag: "\(number)", search: search)
        : try? parent.makeChild(tag: "\(number)", search: search)
      guard let child else { continue }
      contexts.append(child)
      let name: UDIName? = Bool.random(using: &random) ? nil : "named"
      switch Int.random(in: 0..<12, using: &random) {
      case 0: child.bind(hold(SystemClock()), as: (any Clock).self, named: name)
      case 1: child.register((any Clock).self, named: name, lifetime: .unique) { SystemClock() }
      case 2: child.bind(hold(Basket()), as: (any Cart).self, named: name)
      case 3: child.provide(Database() as any Store, named: name)
      default: break
      }
    }
  }

  /// 10,000 contexts.
  private func fillLarge() {
    root.bind(hold(SystemClock()), as: (any Clock).self)
    root.register((any Store).self, lifetime: .context) { Database() }
    for area in 1...9 {
      guard let area = try? root.makeChild(tag: "Area \(area)") else { continue }
      area.register((any Theme).self, lifetime: .context) { DarkTheme() }
      for project in 1...10 {
        guard let project = try? area.makeChild(tag: "Project \(project)") else { continue }
        project.bind(hold(Basket()), as: (any Cart).self)
        for document in 1...110 {
          guard let document = try? project.makeChild(tag: "Document \(document)") else { continue }
          document.register((any Editor).self, lifetime: .weak) { context in
            _ = context.link((any Store).self)
            return Notepad()
          }
        }
        for document in project.children.prefix(3) {
          if let editor = document.link((any Editor).self) { _ = hold(editor) }
        }
      }
    }
  }
}

/// A generator whose numbers are the same in every run (SplitMix64).
private struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
