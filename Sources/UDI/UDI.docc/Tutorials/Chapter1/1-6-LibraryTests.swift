import Testing
import UDI
import UDITesting

@testable import Shelf

@Suite(.ownAppContext) struct LibraryTests {
  @Test func articleWaits() throws {
    AppContext.install(AppModule())
    let library = try AppContext.require(Library.self)
    library.add("Trees")
    #expect(library.lines == ["Trees, 0 days"])
  }
}
