import UDI

/// Reading and writing.
struct TimelineModule: UDIModule {
  func register(in context: UDIContext) {
    context.register { PostStore() }
    context.register((any TimelineFilter).self, named: "blocked", using: BlockFilter.init(relationships:))
    context.register((any TimelineFilter).self, named: "words", using: WordFilter.init(preferences:))
    context.register((any TimelineFilter).self, named: "replies", using: ReplyFilter.init(preferences:))
    context.register { context in
      try Timeline(posts: context.require(), filters: context.linkAll((any TimelineFilter).self))
    }
    context.register(using: Reactions.init(client:database:analytics:))
    context.register(using: Drafts.init(database:))
    context.register(using: Outbox.init(client:posts:))
    context.register(using: Publisher.init(outbox:uploader:drafts:analytics:))
    // Without the feature there is no translator. The flags belong to the app, so they can be looked up already.
    if context.link(FeatureFlags.self)?[.translation] == true { context.register { Translator() } }
  }
}
