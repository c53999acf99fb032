import UDI

/// Finding.
struct SearchModule: UDIModule {
  func register(in context: UDIContext) {
    context.register { SearchIndex() }
    context.register(using: Search.init(index:timeline:analytics:))
    context.register(using: Trends.init(client:))
  }
}
