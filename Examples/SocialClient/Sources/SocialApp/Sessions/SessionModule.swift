import UDI

/// Everything that exists for as long as one account is logged in.
///
/// What is registered later is closed first, and so is what needs something else. The client is closed last: until then,
/// the server accepts its token.
struct SessionModule: UDIModule {
  let account: Account
  let client: SessionClient
  let number: Int

  func register(in context: UDIContext) {
    context.provide(account)
    context.provide(client).onClose { client in
      if case .closed(because: is Expired) = UDIEnding.current { return }
      _ = try await client.send(.logOut)
    }
    context.register((any Database).self) { context in
      try await MemoryDatabase.open(for: context.obtain(Account.self))
    }.onClose { database in
      await database.close()
    }
    // A factory that asked its own context for analytics would ask for itself: it has to ask the parent.
    context.register((any Analytics).self) { context in
      guard let app = context.parent else { return nil }
      return try SessionAnalytics(session: number, next: app.require())
    }
    context.install(
      SessionMediaModule(), PeopleModule(), TimelineModule(), NoticesModule(), SearchModule(), SyncModule(),
      ScreensModule())
  }
}

/// Pictures and files of an account.
struct SessionMediaModule: UDIModule {
  func register(in context: UDIContext) {
    context.register(using: ImageLoader.init(client:files:pictures:decoder:))
    context.register(using: MediaUploader.init(client:files:))
  }
}
