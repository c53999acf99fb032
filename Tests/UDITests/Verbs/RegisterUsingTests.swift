import Testing
import UDI

private protocol Reader: AnyObject, Sendable {}
private final class Book: Reader {
  let clock: any Ticking
  let optional: (any Missing)?
  init(clock: any Ticking) {
    self.clock = clock
    optional = nil
  }
  init(clock: any Ticking, missing: (any Missing)?) throws {
    self.clock = clock
    optional = missing
  }
  init(_ clock: any Ticking, _ title: String, _ pages: Int) throws {
    self.clock = clock
    optional = nil
    if pages < 0 { throw Torn() }
  }
}
private struct Torn: Error {}
private protocol Ticking: Sendable {}
private struct Watch: Ticking, Equatable { var hour = 0 }
private protocol Missing: AnyObject, Sendable {}
private final class Rare: Missing {}
private protocol Shelf: Sendable { var reader: any Reader { get } }
private struct Board: Shelf { let reader: any Reader }
@MainActor private final class Page {
  let clock: any Ticking
  let local: (any Local)?
  init(clock: any Ticking) {
    self.clock = clock
    local = nil
  }
  init(clock: any Ticking, local: any Local) {
    self.clock = clock
    self.local = local
  }
}
private final class Mutable {
  let local: any Local
  init(local: any Local) { self.local = local }
}

@Suite struct RegisterUsingTests {
  let context = UDIContext(tag: "context")

  @Test func eachParameterIsLookedUpByItsType() throws {
    context.provide(Watch(hour: 5), as: (any Ticking).self)
    let line = #line + 1
    context.register((any Reader).self, using: Book.init(clock:))
    let reader = try #require(context.link((any Reader).self) as? Book)
    #expect(reader.clock as? Watch == Watch(hour: 5))
    #expect(context.link((any Reader).self) === reader)
    #expect(context.registrations(of: (any Reader).self).first?.line == line)
    // By default, it is registered as the type that the initialiser makes. A struct's initialiser works as well, and so
    // does a function.
    context.register(using: Board.init(reader:))
    #expect(context.link(Board.self) != nil)
    context.register(String.self, using: { (clock: any Ticking) in "\(clock)" })
    #expect(try context.require(String.self).contains("5"))
  }

  @Test func anOptionalParameterMayBeMissing() throws {
    context.provide(Watch(), as: (any Ticking).self)
    context.register((any Reader).self, lifetime: .unique, using: Book.init(clock:missing:))
    #expect(try (context.require((any Reader).self) as? Book)?.optional == nil)
    let rare = Rare()
    context.bind(rare, as: (any Missing).self)
    #expect(try (context.require((any Reader).self) as? Book)?.optional === rare)
  }

  @Test func everythingThatRegisterTakes() throws {
    context.provide(Watch(), as: (any Ticking).self)
    let created = Tally()
    context.register(
      (any Reader).self, named: "n", lifetime: .context, using: Book.init(clock:)
    ).onCreate { _, _ in created.add() }
      .metadata("m")
      .implements((any AnyObject & Sendable).self)
    let reader = try context.require((any Reader).self, named: "n")
    #expect(context.link((any Reader).self, named: "n") === reader && created.count == 1)
    #expect(context.link((any AnyObject & Sendable).self) === reader)
    #expect(context.registrations(of: (any Reader).self).map { $0.metadata as? String } == ["m"])
  }

  @Test func whatItThrowsIsThrownOn() {
    context.provide(Watch(), as: (any Ticking).self)
    context.provide("title")
    context.provide(-1)
    context.register((any Reader).self, using: Book.init(_:_:_:))
    #expect(throws: Torn.self) { try context.require((any Reader).self) }
  }

  @Test func theErrorSaysWhichParameterOfWhichTypeIsMissing() throws {
    context.provide(Watch(), as: (any Ticking).self)
    context.provide("title")
    let (file, line) = (#fileID, #line + 1)
    context.register((any Reader).self, using: Book.init(_:_:_:))
    context.register((any Shelf).self, using: Board.init(reader:))
    let error = try #require(throws: UDILinkError.self) { try context.require((any Shelf).self) }
    #expect(error.chain.map(\.parameter) == [1, 3, nil])
    let (reader, shelf) = ("UDITests.(private).Reader", "UDITests.(private).Shelf")
    let lines = error.description.split(separator: "\n")
    #expect(
      lines.first
        == "No Swift.Int is registered in this tree. \(reader) needs it as parameter 3 of its initialiser, for \(shelf)."
    )
    #expect(
      lines.dropFirst().first
        == "\(shelf), parameter 1 (\(file):\(line + 1)) → \(reader), parameter 3 (\(file):\(line)) → Swift.Int")
  }

  @Test func parametersAreLookedUpFromTheOwnerAndUpwards() throws {
    let child = try context.makeChild(tag: "child")
    context.register((any Reader).self, lifetime: .context, using: Book.init(clock:))
    child.provide(Watch(hour: 1), as: (any Ticking).self)
    #expect(throws: UDILinkError.self) { try child.require((any Reader).self) }
    context.provide(Watch(hour: 2), as: (any Ticking).self)
    #expect(try (child.require((any Reader).self) as? Book)?.clock as? Watch == Watch(hour: 2))
  }

  @Test func anInitialiserRunsOnItsActor() async throws {
    context.provide(Watch(), as: (any Ticking).self)
    context.register(Page.self, lifetime: .context, using: Page.init(clock:))
    let context = context
    let (missed, page) = try await Task.detached {
      (MisuseLog.during { context.link(Page.self) == nil }.0, try await context.obtain(Page.self))
    }.value
    #expect(missed && context.link(Page.self) === page)
  }

  @Test @MainActor func whatIsNotSendableIsForTheMainActor() throws {
    context.provide(Watch(), as: (any Ticking).self)
    context.provide(Counter() as any Local, as: (any Local).self)
    context.register(Page.self, using: Page.init(clock:local:))
    #expect(try context.require(Page.self).local === context.link((any Local).self))
    context.register(Mutable.self, using: Mutable.init(local:))
    #expect(context.link(Mutable.self)?.local != nil)
  }
}
