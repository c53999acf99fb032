import UDI

/// Work in the background that belongs to the app.
struct BackgroundModule: UDIModule {
  func register(in context: UDIContext) {
    context.register(using: BackgroundScheduler.init(ids:errors:))
  }
}

/// Keeping this device and the server the same, for one session.
struct SyncModule: UDIModule {
  func register(in context: UDIContext) {
    context.register(using: Inbox.init(posts:notices:index:))
    context.register(using: SyncEngine.init(client:inbox:outbox:))
    context.register(using: SyncJob.init(scheduler:engine:)).onClose { job in job.cancel() }
    context.register(using: LiveUpdates.init(client:inbox:)).onClose { updates in await updates.close() }
  }
}
