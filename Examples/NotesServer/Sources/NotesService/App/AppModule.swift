import Logging
import UDI

/// Everything that lives as long as the application, and what the scopes of requests make. The root context installs this
/// module.
public struct AppModule: UDIModule, Sendable {
  private let configuration: NotesConfiguration
  private let logger: Logger

  /// Makes the module for one configuration.
  ///
  /// - Parameters:
  ///   - configuration: The operator's settings.
  ///   - logger: Logs what is opened and closed.
  public init(_ configuration: NotesConfiguration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
  }

  /// Installs the modules of all areas of the application.
  public func register(in context: UDIContext) {
    context.install(
      ConfigurationModule(configuration: configuration), TimeModule(), StorageModule(logger: logger), RequestModule())
  }
}

/// The operator's settings. Handlers ask only for the limits and need not know where these come from.
struct ConfigurationModule: UDIModule {
  let configuration: NotesConfiguration

  func register(in context: UDIContext) {
    context.provide(configuration)
    context.register(NoteLimits.self) { try configuration.readLimits() }
  }
}

/// The clock.
struct TimeModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any WallClock).self) { SystemClock() }
  }
}
