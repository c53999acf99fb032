import Synchronization
import Testing
import UDI
import UDITesting

@testable import Shelf

final class TestClock: WallClock, Sendable {
  private let day = Atomic(0)
  var today: Int { day.load(ordering: .relaxed) }
  func pass(days: Int) { day.add(days, ordering: .relaxed) }
}

@Suite(.ownAppContext) struct LibraryTests {
  @Test func articleWaits() throws {
    let clock = TestClock()
    AppContext.install(AppModule())
    AppContext.provide(clock, as: (any WallClock).self, replaces: true)
    let library = try AppContext.require(Library.self)
    library.add("Trees")
    clock.pass(days: 3)
    #expect(library.lines == ["Trees, 3 days"])
  }
}
