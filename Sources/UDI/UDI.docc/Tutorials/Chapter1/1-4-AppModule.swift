import UDI

struct AppModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any WallClock).self, lifetime: .context) { SystemClock() }
    context.register((any ArticleStore).self, lifetime: .context) { MemoryStore() }
  }
}
