import UDI

struct AppModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any WallClock).self) { SystemClock() }
    context.register { Disk() }
  }
}

struct SessionModule: UDIModule {
  let account: Account

  func register(in context: UDIContext) {
    context.provide(account)
    context.register(using: AccountStore.open(for:on:)).onClose { store in try await store.close() }
      .implements((any ArticleStore).self)
    context.register(using: Library.init(store:clock:))
  }
}
