import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NotesService
import ServiceLifecycle
import UDI
import UnixSignals

/// Reads the operator's options, puts the service together, and runs it until it is told to stop.
@main
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "NotesServer", abstract: "Keeps notes, over HTTP.")

  /// Chooses what makes the objects that a request needs.
  enum WiringName: String, CaseIterable, ExpressibleByArgument {
    case udi, hand
  }

  @Option(help: "The address to listen on.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on; with 0, the system chooses one.")
  var port = 8080

  @Option(help: "The file to keep the notes in. Without one, the notes are lost when the server ends.")
  var database: String?

  @Option(help: "A JSON file with the limits: titleLength, bodyLength, pageSize, maximumPageSize and requestBytes.")
  var limits: String?

  @Option(help: "How much to log, to standard error.")
  var logLevel = Logger.Level.info

  @Option(help: "What makes the objects that a request needs: the library (udi) or initialisers (hand).")
  var wiring = WiringName.udi

  @Flag(help: "Show the tree of contexts at /debug/contexts; on the loopback interface only.")
  var debug = false

  func validate() throws {
    guard 0...65_535 ~= port else { throw ValidationError("The port must be a number from 0 to 65535.") }
    guard !debug || ["127.0.0.1", "::1", "localhost"].contains(host) else {
      throw ValidationError("--debug is for the loopback interface only.")
    }
  }

  func run() async throws {
    var logger = Logger(label: "NotesServer", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = logLevel
    let configuration = NotesConfiguration(
      host: host, port: port, storage: database.map { .file(path: $0) } ?? .memory, limitsFile: limits)
    defer { logger.info("Closed") }
    try await ServiceGroup(
      services: [service(configuration, logger)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
    ).run()
  }

  private func service(_ configuration: NotesConfiguration, _ logger: Logger) -> any Service {
    switch wiring {
    case .udi:
      UDIObserver.process = telemetry()
      AppContext.install(AppModule(configuration, logger: logger))
      let server = application(configuration, UDIWiring(root: AppContext), logger)
      return TreeService(root: AppContext, server: server, logger: logger)
    case .hand:
      return HandService(configuration) { wiring in try await application(configuration, wiring, logger).run() }
    }
  }

  private func application(
    _ configuration: NotesConfiguration, _ wiring: some Wiring, _ logger: Logger
  ) -> some ApplicationProtocol {
    let host = host.contains(":") ? "[\(host)]" : host
    return makeApplication(
      configuration, wiring: wiring, debugging: debug ? AppContext : nil, logger: logger
    ) { port in
      // Written to the handle, because `print` would buffer the line unless the output is a terminal.
      FileHandle.standardOutput.write(Data("Listening on http://\(host):\(port)\n".utf8))
    }
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
