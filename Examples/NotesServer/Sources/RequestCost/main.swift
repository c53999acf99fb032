/// Answers a number of requests, reads and writes in turn, without a server. `load --instructions` uses it to count the
/// instructions of one request.
///
///     RequestCost udi|hand COUNT
import Dispatch
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import NotesService
import UDI

let arguments = CommandLine.arguments
guard arguments.count == 3, ["udi", "hand"].contains(arguments[1]), let count = Int(arguments[2]) else {
  fatalError("usage: RequestCost udi|hand COUNT")
}

let logger = {
  var logger = Logger(label: "RequestCost", factory: { StreamLogHandler.standardError(label: $0) })
  logger.logLevel = .error
  return logger
}()

/// Answers the requests, one after the other.
@Sendable func answer(_ count: Int, wiring: some Wiring) async throws {
  let responder = makeRouter(wiring: wiring).buildResponder()
  let channel = EmbeddedChannel()
  func send(_ method: HTTPRequest.Method, _ path: String, _ body: String) async throws {
    let head = HTTPRequest(
      method: method, scheme: nil, authority: nil, path: path, headerFields: [.contentType: "application/json"])
    let context = NotesRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
    let response = try await responder.respond(to: request, context: context)
    guard response.status.kind == .successful else { fatalError("\(method) \(path): \(response.status)") }
  }
  for _ in 0..<10 { try await send(.post, "/notes", #"{"title": "Tea", "body": "Buy some."}"#) }
  for index in 0..<count {
    let path = "/notes/\(index % 10 + 1)"
    if index % 2 == 0 { try await send(.get, path, "") } else { try await send(.put, path, #"{"title": "Tea"}"#) }
  }
}

// Runs off the main actor, because Valgrind cannot handle the main actor's queue. The main thread waits.
let done = DispatchSemaphore(value: 0)
Task.detached {
  let configuration = NotesConfiguration(storage: .memory)
  if arguments[1] == "udi" {
    AppContext.install(AppModule(configuration, logger: logger))
    try await AppContext.warmUp()
    try await answer(count, wiring: UDIWiring(root: AppContext))
    try await AppContext.close()
  } else {
    try await HandService(configuration) { wiring in try await answer(count, wiring: wiring) }.run()
  }
  done.signal()
}
done.wait()
