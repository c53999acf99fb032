import UDI

struct AppModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any WallClock).self) { SystemClock() }
    context.register((any ArticleStore).self) { MemoryStore() }
  }
}
