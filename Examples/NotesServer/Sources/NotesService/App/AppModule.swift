import UDI

/// Everything that lives as long as the application. The root context installs this module.
public struct AppModule: UDIModule, Sendable {
  private let configuration: NotesConfiguration

  /// Makes the module for one configuration.
  public init(_ configuration: NotesConfiguration) { self.configuration = configuration }

  /// Installs the modules of all areas of the application.
  public func register(in context: UDIContext) {
    context.install(ConfigurationModule(configuration: configuration), TimeModule(), StorageModule())
  }
}

/// The operator's settings. Handlers ask only for the limits and need not know where these come from.
struct ConfigurationModule: UDIModule {
  let configuration: NotesConfiguration

  func register(in context: UDIContext) {
    context.provide(configuration)
    context.provide(configuration.limits)
  }
}

/// The clock.
struct TimeModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any WallClock).self, lifetime: .context) { SystemClock() }
  }
}
