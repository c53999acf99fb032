import UDI

/// What the person is notified of.
struct NoticesModule: UDIModule {
  func register(in context: UDIContext) {
    context.register { NoticeStore() }
    context.register(using: NoticeTexts.init(texts:))
    // An asynchronous initialiser is registered like any other.
    context.register(using: PushSubscription.init(client:gateway:)).onClose { push in try await push.end() }
  }
}
