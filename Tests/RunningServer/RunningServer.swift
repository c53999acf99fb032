import Foundation
import UDI

/// A program with five services, which SIGTERM stops. `.ci/signals` runs it, and compares the order of what it prints.
///
///     RunningServer normal      starts, and waits for the signal
///     RunningServer delayed     the same, with factories that take a random time
///     RunningServer starting    the signal has to come while the program starts
///     RunningServer failing     a service fails
///     RunningServer stubborn    a service takes no notice of cancellation
///
/// The exit status is 1 if a service fails, or is not closed in time.
enum Mode: String {
  case normal, delayed, starting, failing, stubborn
}

/// The services, in the order in which they are registered.
enum Name: String, CaseIterable {
  case server, jobs, mailer, database, settings

  /// What the service is made of.
  var needs: [Name] {
    switch self {
    case .server: [.database, .jobs]
    case .jobs: [.database, .mailer]
    case .mailer, .database: [.settings]
    case .settings: []
    }
  }
}

struct Service {
  struct OutOfPaper: Error {}

  let name: Name
  let mode: Mode
  /// Told when the service runs.
  let begins: AsyncStream<Void>.Continuation
  /// Ends when all services run.
  let allRun: AsyncStream<Void>

  func run() async throws {
    say("\(name) runs")
    begins.yield()
    switch (mode, name) {
    case (.failing, .jobs):
      for await _ in allRun {}
      say("\(name) fails")
      throw OutOfPaper()
    case (.stubborn, .mailer):
      // A task of its own is not cancelled.
      await Task { await untilCancelled() }.value
    default:
      await untilCancelled()
      say("\(name) stops")
    }
  }
}

/// Writes a line at once, because `print` would buffer it unless the output is a terminal.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func untilCancelled() async { try? await Task.sleep(for: .seconds(3_600)) }

@main
struct RunningServer {
  static func main() async throws {
    guard let mode = CommandLine.arguments.dropFirst().first.flatMap(Mode.init(rawValue:)) else {
      say("usage: RunningServer normal | delayed | starting | failing | stubborn")
      exit(2)
    }
    signal(SIGTERM, SIG_IGN)
    let root = UDIContext(tag: "Program")
    let (begun, begins) = AsyncStream<Void>.makeStream()
    let (allRun, go) = AsyncStream<Void>.makeStream()
    for name in Name.allCases {
      root.register(Service.self, named: "\(name)", lifetime: .context) { context in
        for need in name.needs { _ = try await context.obtain(Service.self, named: "\(need)") }
        if mode == .delayed { try await Task.sleep(for: .milliseconds(.random(in: 0...20))) }
        if mode == .starting, name == .database {
          _ = try await context.obtain(Service.self, named: "\(Name.mailer)")
          for await _ in begun.prefix(2) {}
          say("ready")
          await untilCancelled()
          say("\(name) gives up")
          throw CancellationError()
        }
        say("\(name) made")
        return Service(name: name, mode: mode, begins: begins, allRun: allRun)
      }.onClose { _ in
        say("\(name) closed")
      }.running { try await $0.run() }
    }

    // The signal is lost until the source is installed.
    let (installed, isInstalled) = AsyncStream<Void>.makeStream()
    let (stopping, stop) = AsyncStream<Void>.makeStream()
    let signals = DispatchSource.makeSignalSource(signal: SIGTERM)
    signals.setRegistrationHandler { isInstalled.finish() }
    signals.setEventHandler {
      say("SIGTERM")
      stop.finish()
    }
    signals.activate()
    for await _ in installed {}

    let running = Task {
      try await root.warmUp()
      for await _ in begun.prefix(Name.allCases.count) {}
      say("ready")
      go.finish()
      try await root.untilClosed()
    }
    Task {
      for await _ in stopping {}
      running.cancel()
    }

    var failures: [UDIFailure] = []
    do { try await running.value } catch let failure as UDIFailure {
      failures.append(failure)
    } catch is CancellationError {}
    do { try await root.close(within: .seconds(5)) } catch { failures += (error as? UDICloseError)?.failures ?? [] }
    for failure in failures { say("\(failure.name ?? ""): \(failure.error)") }
    exit(failures.isEmpty ? 0 : 1)
  }
}
