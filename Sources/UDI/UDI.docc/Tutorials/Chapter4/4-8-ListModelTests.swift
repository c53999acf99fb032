import Testing
import UDI
import UDITesting

@testable import Shelf

struct FixedAdvice: Advice { let title: String }

@MainActor @Suite(.ownAppContext { compose($0) }) struct ListModelTests {
  @Test func listShowsWhatIsAdded() {
    let list = ListModel().attached(to: AppContext)
    list.add("Trees")
    #expect(list.lines == ["Trees, 0 days"])
  }

  @Test func emptyListGivesAHint() {
    let list = ListModel().attached(to: AppContext)
    #expect(list.hint == "Read something")
    AppContext.provide(FixedAdvice(title: "Walden"), as: (any Advice).self)
    #expect(list.hint == "Read Walden")
  }
}
