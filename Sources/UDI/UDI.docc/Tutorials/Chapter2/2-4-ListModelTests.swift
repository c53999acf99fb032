import Testing
import UDI
import UDITesting

@testable import Shelf

@MainActor @Suite(.ownAppContext { $0.install(AppModule()) }) struct ListModelTests {
  @Test func listShowsWhatIsAdded() {
    let list = ListModel().attached(to: AppContext)
    list.add("Trees")
    #expect(list.lines == ["Trees, 0 days"])
  }
}
