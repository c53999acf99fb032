import Synchronization
import Testing
import UDI
import UDITesting
import XCTest

// The code in "Testing" and in the documentation of `UDITesting`: `.ci/articles` compares it with them.

nonisolated private protocol Cart: AnyObject, Sendable {}
nonisolated private final class FakeCart: Cart {}
private final class SavedCart: Cart {
  init(clock: (any Clock)?) {}
}
nonisolated private protocol Clock: Sendable {}
nonisolated private struct StoppedClock: Clock {}
private final class CheckoutScreen: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var cart: (any Cart)?
  var total: Int { cart == nil ? -1 : 0 }
  func didAttachContext() {}
}
nonisolated private protocol Database: Sendable {
  var count: Int { get async throws }
  func insert(_ note: String) async throws
  func close() async throws
}
private actor MemoryDatabase: Database {
  private var notes: [String] = []
  var count: Int { notes.count }
  func insert(_ note: String) { notes.append(note) }
  func close() { notes = [] }
}
nonisolated private struct StorageModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any Database).self) {
      MemoryDatabase()
    }.onClose { database in
      try await database.close()
    }
  }
}
private final class ClockScreen: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var clock: any Clock
}
private struct Receipt {
  let clock: any Clock
  let cart: any Cart
  var text: String { "12:00, 0 items" }
}
nonisolated private final class CheckoutModel: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  private let action = Mutex<(@Sendable () -> Void)?>(nil)
  func didAttachContext() { bind(self, as: CheckoutModel.self) }
  func refresh() { action.withLock { $0 = { [weak self] in self?.refresh() } } }
}

@Suite(.ownAppContext) struct CheckoutTests {
  @Test func emptyCart() throws {
    AppContext.provide(FakeCart(), as: (any Cart).self)
    let screen = CheckoutScreen().attached(to: AppContext)
    #expect(screen.total == 0)
  }
}

@Suite(.ownAppContext) struct UnattachedTests {
  @Test func screenIsAttached() {
    AppContext.provide(FakeCart(), as: (any Cart).self)
    let screen = CheckoutScreen().attached(to: AppContext)
    withReporter(UDIReporter(reportsUnattachedUse: true, recordAsIssue)) {
      #expect(screen.total == 0)
    }
  }
}

@Suite(.ownAppContext { $0.register((any Clock).self) { StoppedClock() } })
struct ReceiptTests {
  @Test(.ownAppContext { $0.provide(FakeCart(), as: (any Cart).self) })
  func receiptHasTimeAndCart() throws {
    let receipt = try Receipt(clock: AppContext.require(), cart: AppContext.require())
    #expect(receipt.text == "12:00, 0 items")
  }
}

@Suite(.ownAppContext { $0.install(StorageModule()) })
struct StorageTests {
  @Test func notesAreStored() async throws {
    let database = try await AppContext.obtain((any Database).self)
    try await database.insert("Water the plants")
    #expect(try await database.count == 1)
  }
}

@Suite(.ownAppContext) struct TestingArticle {
  @Test func overrides() {
    withOverride(of: (any Clock).self, with: StoppedClock()) {
      #expect(AppContext.link((any Clock).self) is StoppedClock)
    }
  }

  @Test(.ownAppContext) func checkoutLeavesNothingBehind() throws {
    try expectNoGrowth {
      let checkout = try AppContext.makeChild(tag: "Checkout")
      _ = CheckoutScreen().attached(to: checkout)
      AppContext.removeChild(checkout)
    }
  }

  @Test(.ownAppContext { $0.register((any Clock).self) { StoppedClock() } })
  func everythingCanBeMade() async {
    await expectEverythingIsMade(in: AppContext)
  }

  @Test(.ownAppContext { $0.register((any Clock).self) { StoppedClock() } })
  func screensHaveWhatTheyNeed() {
    expectNeedsAreMet(by: ClockScreen.self)
  }

  @Test(.leakAudit) func screenGoesAway() throws {
    let checkout = try AppContext.makeChild(tag: "Checkout")
    let model = CheckoutModel().attached(to: checkout)
    model.refresh()
    AppContext.removeChild(checkout)
  }
}

struct LeakingFactory {
  @Test func isFound() throws {
    let found = try leaks {
      let session = try AppContext.makeChild(tag: "Session")
      session.register((any Cart).self) { SavedCart(clock: session.link((any Clock).self)) }
      AppContext.removeChild(session)
    }
    #expect(found.first?.description.contains("registered at \(#fileID):") == true)
  }

  @Test(.leakAudit) func mended() throws {
    let session = try AppContext.makeChild(tag: "Session")
    session.register((any Cart).self) { context in SavedCart(clock: context.link((any Clock).self))
    }
    AppContext.removeChild(session)
  }

  @Test(.ownAppContext) func checkoutCanBeOpenedTwice() throws {
    let cart = FakeCart()
    AppContext.bind(cart, as: (any Cart).self)
    for _ in 0..<2 {
      try expectNoLeaks {
        let checkout = try AppContext.makeChild(tag: "Checkout")
        _ = CheckoutScreen().attached(to: checkout)
        AppContext.removeChild(checkout)
      }
    }
  }
}

nonisolated final class XCTestArticle: XCTestCase {
  func testScreenGoesAway() {
    let found = leaks(onMisuse: { XCTFail("\($0)") }) {
      CheckoutModel().attached(to: AppContext).refresh()
    }
    XCTAssertEqual(found, [])
  }
}
