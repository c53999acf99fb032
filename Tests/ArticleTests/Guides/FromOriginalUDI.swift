import Testing
import UDI
import UDITesting

// The code in the guide for users of the original UDI. Each row of its table has a test of its own: see `.ci/articles`.

struct FromOriginalUDI {
  nonisolated protocol Store: AnyObject, Sendable {}
  nonisolated final class Shelf: Store {}

  let shop = UDIContext(tag: "Shop")

  @Test(arguments: [false, true]) func defaultLifetime(isSet: Bool) throws {
    let context = UDIContext(tag: "App")
    if isSet {
      context.defaultLifetime = .weak
    }
    context.register((any Store).self) { Shelf() }
    try withExtendedLifetime(context.require((any Store).self)) { held in
      #expect(context.link((any Store).self) === held)
    }
    weak let gone = context.link((any Store).self)
    #expect((gone == nil) == isSet, "nobody else holds it")
  }

  @Test func search() throws {
    let app = UDIContext(tag: "App")
    try app.addChild(shop)
    app.provide(Shelf(), as: (any Store).self)
    #expect(shop.link((any Store).self) is Shelf, "a miss in the original")
    shop.search = .descendants
    #expect(shop.link((any Store).self) == nil)
    #expect(try shop.makeChild(tag: "Desk").search == .descendants)
    let desk = UDIContext(tag: "Other desk")
    try shop.addChild(desk)
    #expect(desk.search == .lineage)
  }

  @Test func wrapper() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked var store: (any Store)?
    }
    shop.provide(Shelf(), as: (any Store).self)
    #expect(Screen().attached(to: shop).store is Shelf)
  }

  @Test func namesAreExact() {
    shop.provide(Shelf(), as: (any Store).self, named: "cellar")
    #expect(shop.link((any Store).self) == nil)
  }

  @Test func context() {
    let shop = UDIContext(tag: "Shop")
    #expect(shop.tag == "Shop")
  }

  @Test(.ownAppContext) func addSubContext() throws {
    try AppContext.addChild(shop)
    #expect(shop.parent === AppContext)
    #expect(throws: UDITreeError.self) { try AppContext.addChild(UDIContext(tag: "Shop")) }
  }

  @Test(.ownAppContext) func removeSubContext() throws {
    try AppContext.addChild(shop)
    AppContext.removeChild(tag: "Shop")
    #expect(shop.parent == nil)
  }

  @Test func attachedContext() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
    }
    let screen = Screen()
    #expect(screen.attachedContext == nil)
    screen.attachedContext = shop
    #expect(screen.attachedContext === shop)
  }

  @Test func initWithContext() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
    }
    #expect(Screen().attached(to: shop).attachedContext === shop)
  }

  @Test func bind() throws {
    nonisolated final class Shelf: UDIObject, Store {
      let _attachedContext = UDIAttachment()
      func didAttachContext() { bind(self, as: (any Store).self) }
    }
    let other = UDIContext(tag: "Other")
    let shelf = Shelf().attached(to: shop)
    #expect(shop.link((any Store).self) === shelf)
    shelf.attachedContext = other
    #expect(shop.link((any Store).self) == nil && other.link((any Store).self) === shelf)
  }

  @Test func multiBind() {
    nonisolated final class Shelf: UDIObject, Store {
      let _attachedContext = UDIAttachment()
      func didAttachContext() { multiBind(self, as: (any Store).self) }
    }
    let other = UDIContext(tag: "Other")
    let shelf = Shelf().attached(to: shop)
    other.multiBind(shelf, as: (any Store).self)
    #expect(shop.link((any Store).self) === shelf && other.link((any Store).self) === shelf)
  }

  @Test func link() {
    final class Screen: UDIObject {
      let _attachedContext = UDIAttachment()
      var store: (any Store)?
      func didAttachContext() { link(\.store) }
    }
    shop.provide(Shelf(), as: (any Store).self)
    #expect(Screen().attached(to: shop).store is Shelf)
  }

  @Test func linkInLine() {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      var store: (any Store)? { linkInLine((any Store).self) }
    }
    shop.provide(Shelf(), as: (any Store).self)
    #expect(Screen().attached(to: shop).store is Shelf)
  }

  @Test func find() throws {
    final class Screen: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      var checkout: UDIContext? { find("Checkout") }
    }
    let checkout = try shop.makeChild(tag: "Checkout")
    #expect(Screen().attached(to: shop).checkout === checkout)
  }

  @Test(.ownAppContext) func globalLink() {
    final class Reader {
      @AppLinked var store: (any Store)?
    }
    AppContext.provide(Shelf(), as: (any Store).self)
    #expect(Reader().store is Shelf)
  }
}
