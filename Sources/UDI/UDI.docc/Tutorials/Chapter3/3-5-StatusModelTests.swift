import Testing
import UDI
import UDITesting

@testable import Shelf

@MainActor @Suite(.ownAppContext { $0.install(AppModule()) }) struct StatusModelTests {
  @Test func readerIsFoundWhileItIsOpen() {
    let list = ListModel().attached(to: AppContext)
    list.open("Trees")
    #expect(AppContext.link((any Reading).self)?.title == "Trees")
    list.closeReader()
    #expect(AppContext.link((any Reading).self) == nil)
  }
}
