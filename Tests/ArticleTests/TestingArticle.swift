import Synchronization
import Testing
import UDI
import UDITesting
import XCTest

// The code of "Testing" and of the documentation of `UDITesting`: `.ci/articles` compares it with them.

private protocol Cart: AnyObject, Sendable {}
private final class FakeCart: Cart {}
private protocol Clock: Sendable {}
private struct StoppedClock: Clock {}
private final class CheckoutScreen: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var cart: (any Cart)?
  var total: Int { cart == nil ? -1 : 0 }
  func didAttachContext() {}
}
private final class CheckoutModel: UDIObject, Sendable {
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

@Suite(.ownAppContext) struct TestingArticle {
  @Test func overrides() {
    withOverride(of: (any Clock).self, with: StoppedClock()) {
      #expect(AppContext.link((any Clock).self) is StoppedClock)
    }
  }

  @Test(.leakAudit) func screenGoesAway() throws {
    let checkout = try AppContext.makeChild(tag: "Checkout")
    let model = CheckoutModel().attached(to: checkout)
    model.refresh()
    AppContext.removeChild(checkout)
  }
}

final class XCTestArticle: XCTestCase {
  func testScreenGoesAway() {
    let found = leaks(onMisuse: { XCTFail("\($0)") }) {
      CheckoutModel().attached(to: AppContext).refresh()
    }
    XCTAssertEqual(found, [])
  }
}
