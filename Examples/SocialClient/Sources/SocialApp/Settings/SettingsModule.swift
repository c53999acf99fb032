import UDI

/// What is stored on this device, and what follows from it.
struct SettingsModule: UDIModule {
  let configuration: AppConfiguration

  func register(in context: UDIContext) {
    context.provide(configuration)
    context.register((any KeyValueStore).self, named: "settings") { MemoryStore() }
    context.register((any KeyValueStore).self, named: "keychain") { MemoryStore() }

    // `register(using:)` looks parameters up by their types alone. These need a name, so they get a factory.
    context.register { context in try TokenVault(keychain: context.require(.keychain)) }
    context.register { context in try Settings(store: context.require(.settings)) }
    context.register { context in try AccountList(store: context.require(.settings)) }
    context.register { context in
      try FeatureFlags(configuration: context.require(), store: context.require(.settings))
    }
    context.register(using: Theme.init(settings:))
    context.register(using: Texts.init(settings:))
  }
}
