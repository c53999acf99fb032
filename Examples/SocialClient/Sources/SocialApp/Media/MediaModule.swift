import UDI

/// What shows pictures, without an account.
struct MediaModule: UDIModule {
  func register(in context: UDIContext) {
    // Takes time, so the first window does not wait for it.
    context.register { await FileCache.open() }
    context.register { LinkPreviews() }
    // Decoders are cheap: each user has its own.
    context.register((any ImageDecoder).self, lifetime: .unique) { MeanDecoder() }
    // Pictures are big: they go when the last user of the cache goes.
    context.register(lifetime: .weak) { PictureCache() }
  }
}
