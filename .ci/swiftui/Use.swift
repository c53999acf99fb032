// A program that uses the SwiftUI file, type-checked together with the stand-in.
import Observation
import SwiftUI
import UDI

@Observable final class Cart {
  var items: [String] = []
}

struct CartView: View {
  @ViewLinked var cart: Cart?
  @ViewLinked(named: "saved", search: .ancestors) var saved: Cart?
  @Environment(\.udiContext) private var context
  var body: some View { Text("\(cart?.items.count ?? 0) items of \(saved?.items.count ?? 0) in \(context.tag)") }
}

struct ShopView: View {
  var body: some View { CartView().contextScope("Shop") { $0.provide(Cart()) } }
}

/// The code in the article "SwiftUI".
enum Complete {
  @Observable final class Cart {
    var items = ["Tea"]
  }

  struct CartView: View {
    @ViewLinked var cart: Cart?
    var body: some View { Text("\(cart?.items.count ?? 0) items") }
  }

  struct ShopView: View {
    var body: some View {
      CartView().contextScope("Shop") { context in context.provide(Cart()) }
    }
  }
}

/// The code in the article "Declaring dependencies".
enum Article {
  struct CartView: View {
    @ViewLinked var cart: Cart?
    var body: some View { Text("\(cart?.items.count ?? 0) items") }
  }

  struct ShopView: View {
    var body: some View { Text("") }
  }

  @MainActor static func show() -> some View {
    ShopView().contextScope("Shop") { context in context.provide(Cart()) }
  }
}
