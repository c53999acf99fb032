import Observation
import Testing
import UDI

@MainActor @Observable private final class Basket {
  var items: [String] = []
}

/// Observable itself, but what it links is not part of its observable state.
@MainActor @Observable private final class Checkout: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @ObservationIgnored @Linked var basket: Basket?
  var note = ""
  func didAttachContext() {}
}

@MainActor @Suite struct ObservationTests {
  let context = UDIContext(tag: "shop")
  private let basket = Basket()

  @Test func whatIsLinkedIsTracked() {
    context.bind(basket, as: Basket.self)
    let changes = Tally()
    let read = withObservationTracking {
      context.link(Basket.self)?.items.count
    } onChange: {
      changes.add()
    }
    #expect(read == 0 && changes.count == 0)
    basket.items.append("apple")
    #expect(changes.count == 1)
  }

  @Test func throughAWrapperToo() {
    context.bind(basket, as: Basket.self)
    let checkout = Checkout().attached(to: context)
    let changes = Tally()
    for round in 1...3 {
      let read = withObservationTracking {
        (checkout.basket?.items.count, checkout.note)
      } onChange: {
        changes.add()
      }
      #expect(read.0 == round / 3)
      if round == 2 { basket.items.append("pear") } else { checkout.note += "." }
      #expect(changes.count == round)
    }
  }

  @Test func whatAProviderMadeIsTracked() {
    context.register(Basket.self, lifetime: .context) { @MainActor in Basket() }
    let changes = Tally()
    withObservationTracking {
      _ = context.link(Basket.self)?.items
    } onChange: {
      changes.add()
    }
    context.link(Basket.self)?.items = ["fig"]
    #expect(changes.count == 1)
  }
}
