import UDI

/// Everything that lives as long as the application: what is installed in its root context.
public struct AppModule: UDIModule, Sendable {
  private let configuration: NotesConfiguration

  /// Makes the module for one configuration.
  public init(_ configuration: NotesConfiguration) { self.configuration = configuration }

  /// Registers what the areas of the application offer.
  public func register(in context: UDIContext) {
    context.install(ConfigurationModule(configuration: configuration), TimeModule(), StorageModule())
  }
}

/// What the operator decided. Handlers ask for the limits alone and need not know where these come from.
struct ConfigurationModule: UDIModule {
  let configuration: NotesConfiguration

  func register(in context: UDIContext) {
    context.provide(configuration)
    context.provide(configuration.limits)
  }
}

/// What time it is.
struct TimeModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any WallClock).self, lifetime: .context) { SystemClock() }
  }
}
