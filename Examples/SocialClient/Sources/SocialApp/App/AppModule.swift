public import UDI

/// The composition root: everything that lives as long as the app, by area.
///
/// What lives as long as a session is in `SessionModule`.
public struct AppModule: UDIModule, Sendable {
  private let configuration: AppConfiguration
  private let server: SocialServer

  /// Makes the module.
  ///
  /// - Parameter server: The server that the app talks to.
  public init(server: SocialServer) { self.init(server: server, configuration: AppConfiguration()) }

  init(server: SocialServer, configuration: AppConfiguration) {
    self.configuration = configuration
    self.server = server
  }

  /// Installs the modules of all areas.
  public func register(in context: UDIContext) {
    context.install(
      BaseModule(), SettingsModule(configuration: configuration), NetworkModule(server: server), MediaModule(),
      BackgroundModule(), SessionsModule())
  }
}
