/// Rounds of a messenger: log-in, thirty screens, log-out; with forty services, all on the main actor. By hand, and with
/// a scope for the session.
import Foundation
import UDI

@MainActor private final class Part {
  let number: Int
  let helper: Part?
  init(_ number: Int, _ helper: Part?) { (self.number, self.helper) = (number, helper) }
  func stop() async {}
}

@MainActor private final class Connection {
  init() async {}
  func close() async {}
}

@MainActor private final class Screen: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required(named: "0") var first: Part
  @Required(named: "39") var last: Part
  func didAttachContext() {}
}

@MainActor private final class PlainScreen {
  let (first, last): (Part, Part)
  init(_ first: Part, _ last: Part) { (self.first, self.last) = (first, last) }
}

@MainActor private let names = (0..<40).map { UDIName("\($0)") }

/// One round. Of the services, each but the first needs the one before, and every tenth one is closed.
@MainActor
private func goRound(in root: UDIContext) async throws {
  let session = try await root.makeScope(tag: "session") { session in
    for (number, name) in names.enumerated() {
      let registration = session.register(Part.self, named: name, lifetime: .context) {
        Part(number, number == 0 ? nil : try $0.require(named: names[number - 1]))
      }
      if number.isMultiple(of: 10) { registration.onClose { await $0.stop() } }
    }
    session.register(Connection.self, lifetime: .context) { await Connection() }.onClose { await $0.close() }
    try await session.warmUp()
  }
  let screens = (0..<30).map { _ in Screen().attached(to: session) }
  for screen in screens where screen.first === screen.last { fatalError("there are forty services") }
  try await session.close()
}

@MainActor
private func goRoundByHand() async {
  var services: [Part] = []
  for number in 0..<40 { services.append(Part(number, services.last)) }
  let connection = await Connection()
  let screens = (0..<30).map { _ in PlainScreen(services[0], services[39]) }
  for screen in screens where screen.first === screen.last { fatalError("there are forty services") }
  await connection.close()
  for service in services.reversed() where service.number.isMultiple(of: 10) { await service.stop() }
}

/// Goes round as often as it is told, and ends the program.
func goRounds(_ count: Int, isByHand: Bool) -> Never {
  Task { @MainActor in
    let root = UDIContext(tag: "root")
    for _ in 0..<count { if isByHand { await goRoundByHand() } else { try await goRound(in: root) } }
    exit(0)
  }
  // Valgrind cannot follow a program whose first thread ends, as it does in `dispatchMain`.
  RunLoop.main.run()
  fatalError("the loop has a task to run")
}
