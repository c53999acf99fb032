import Testing
import UDI
import UDITesting

@testable import Shelf

/// Lets other tasks run until the condition holds.
@MainActor func wait(until isSo: () -> Bool) async {
  while !isSo() { await Task.yield() }
}

@MainActor @Suite(.ownAppContext { $0.install(AppModule()) }) struct StatusModelTests {
  @Test func readerIsFoundWhileItIsOpen() {
    let list = ListModel().attached(to: AppContext)
    list.open("Trees")
    #expect(AppContext.link((any Reading).self)?.title == "Trees")
    list.closeReader()
    #expect(AppContext.link((any Reading).self) == nil)
  }

  @Test(.timeLimit(.minutes(1))) func statusFollowsTheReader() async {
    let list = ListModel().attached(to: AppContext)
    let status = StatusModel().attached(to: AppContext)
    #expect(status.text == "You read nothing")
    list.open("Trees")
    await wait { status.text == "You read Trees" }
    list.closeReader()
    await wait { status.text == "You read nothing" }
  }
}
