import Dispatch
import Testing

@testable import UDI

/// What becomes of an `obtain` when the context is closed, or when something is reset or replaced, at each step.
@Suite(.unlessItHangs, .silent) struct ObtainingEndsTests {
  let root = UDIContext(tag: "root")

  /// Knows whether it has been closed, and counts how often.
  private final class Socket: Sendable {
    let closed = Tally()
  }
  private final class Client: Sendable {
    let socket: Socket
    let closed = Tally()
    init(socket: Socket) { self.socket = socket }
  }

  /// Where the making is when the scope is closed.
  enum Step: CaseIterable {
    case inParameter, inAsynchronousFactory, inSynchronousFactory, inCompletion, onActor
  }

  @Test(arguments: Step.allCases) func closing(_ step: Step) async throws {
    let scope = try root.makeScope(tag: "scope")
    let (begun, goOn, sockets, clients) = (Latch(), Latch(), Locked<[Socket]>([]), Locked<[Client]>([]))
    let pause = { @Sendable (here: Step) async in
      guard here == step else { return }
      begun.arrive()
      await goOn.wait()
    }
    scope.register(Socket.self, lifetime: .context) { () async in
      await pause(.inParameter)
      let socket = Socket()
      sockets.withLock { $0.append(socket) }
      return socket
    }.onClose {
      $0.closed.add()
    }
    let make = { @Sendable (socket: Socket) in
      let client = Client(socket: socket)
      clients.withLock { $0.append(client) }
      return client
    }
    let close = { @Sendable (client: Client) async in client.closed.add() }
    switch step {
    case .inAsynchronousFactory:
      scope.register(
        Client.self, lifetime: .context,
        { context in
          let socket = try await context.obtain(Socket.self)
          await pause(.inAsynchronousFactory)
          return make(socket)
        }
      ).onClose(close)
    case .inCompletion:
      scope.register(
        Client.self, lifetime: .context, { context in make(try await context.obtain(Socket.self)) }
      ).onCreate { _, _ in begun.arrive() }.onClose(close)
    case .onActor:
      scope.register(
        Client.self, lifetime: .context, using: { @MainActor (socket: Socket) in make(socket) }
      ).onClose(close)
    case .inParameter, .inSynchronousFactory:
      scope.register(Client.self, lifetime: .context, using: make).onClose(close)
    }
    if step == .inSynchronousFactory || step == .onActor {
      // The first hook is reached by a task that waits for something.
      begun.arrive()
    }
    let task = Task { try await scope.obtain(Client.self) }
    await begun.wait()
    let closing = Task { try await scope.close() }
    await Task.yield()
    goOn.arrive()
    try await closing.value
    let result = await task.result
    // If it was not too late, the client was given before the scope was closed. Otherwise, it is an error that says so.
    if case .failure(let error) = result {
      if case .contextClosed? = (error as? UDILinkError)?.cause {} else { Issue.record("\(error)") }
    }
    if step == .inParameter || step == .inAsynchronousFactory {
      #expect(throws: (any Error).self) { try result.get() }
    }
    for socket in sockets.withLock(\.self) { #expect(socket.closed.count == 1) }
    for client in clients.withLock(\.self) { #expect(client.closed.count == 1) }
  }

  /// A scope that ends does not wait for a parameter that is made elsewhere, and neither does who obtains.
  @Test func aParameterOfAContextThatStays() async throws {
    let (begun, goOn, root) = (Latch(), Latch(), root)
    root.register(Socket.self, lifetime: .context) { () async in
      begun.arrive()
      await goOn.wait()
      return Socket()
    }
    root.register(Client.self, lifetime: .scope, using: Client.init(socket:))
    let other = Task { try await root.obtain(Socket.self) }
    let scope = try root.makeScope(tag: "scope")
    let (asks, waits) = (Latch(), Latch(2))
    let task = Task {
      asks.arrive()
      return try await Schedule.$hook.withValue({ if $0 == .waits { waits.arrive() } }) {
        try await scope.obtain(Client.self)
      }
    }
    await begun.wait()
    await asks.wait()
    // The preparation waits for the socket, and the task for the preparation.
    await waits.wait()
    #expect(!scope.closeAtOnce())
    try await scope.close()
    let error = await #expect(throws: UDILinkError.self) { try await task.value }
    if case .contextClosed? = error?.cause {} else { Issue.record("\(error?.description ?? "no error")") }
    goOn.arrive()
    _ = try await other.value
  }

  /// What is there is found until it is closed, by `obtain` as by `require`.
  @Test func whatIsKeptWhileItsScopeIsClosed() async throws {
    let (scope, found, root) = (try root.makeScope(tag: "scope"), Locked<[Bool]>([]), root)
    root.register(Socket.self, lifetime: .scope) { Socket() }
    let close = { @Sendable (client: Client) async throws in
      let socket = try await scope.obtain(Socket.self)
      found.withLock { $0.append(socket === client.socket) }
    }
    root.register(Client.self, lifetime: .scope, using: Client.init(socket:)).onClose(close)
    _ = try await scope.obtain(Client.self)
    try await scope.close()
    #expect(found.withLock(\.self) == [true])
  }

  /// Whoever asks when everything is closed gets an error, and nothing is made.
  @Test func afterClosing() async throws {
    let calls = Tally()
    root.register(Socket.self, lifetime: .context) { () async in
      calls.add()
      return Socket()
    }
    try await root.close()
    let error = await #expect(throws: UDILinkError.self) { try await root.obtain(Socket.self) }
    if case .contextClosed? = error?.cause {} else { Issue.record("\(error?.description ?? "no error")") }
    #expect(calls.count == 0)
  }

  /// What happens to the client's registration, while its parameter is being obtained.
  enum Change: CaseIterable { case reset, replace, unregister }

  @Test(
    arguments: Change.allCases, [(UDILifetime.unique, false), (.unique, true), (.context, false), (.context, true)])
  func whatHasBeenObtainedForItIsNotUsed(
    _ change: Change, _ kind: (lifetime: UDILifetime, isAsynchronous: Bool)
  ) async throws {
    let (lifetime, isAsynchronous) = kind
    let (begun, goOn, sockets, clients, root) = (Latch(), Latch(), Tally(), Tally(), root)
    root.register(Socket.self, lifetime: .unique) { () async in
      sockets.add()
      if sockets.count == 1 {
        begun.arrive()
        await goOn.wait()
      }
      return Socket()
    }
    func register() -> UDIRegistration<Client> {
      let make = { @Sendable (socket: Socket) in
        clients.add()
        return Client(socket: socket)
      }
      let makeLater = { @Sendable (socket: Socket) async in make(socket) }
      return isAsynchronous
        ? root.register(lifetime: lifetime, replaces: true, using: makeLater)
        : root.register(lifetime: lifetime, replaces: true, using: make)
    }
    let registration = register()
    let task = Task { try await root.obtain(Client.self) }
    await begun.wait()
    switch change {
    case .reset: root.reset()
    case .replace: _ = register()
    case .unregister: registration.unregister()
    }
    goOn.arrive()
    if change == .unregister {
      let error = await #expect(throws: UDILinkError.self) { try await task.value }
      #expect(error?.cause == .notRegistered && clients.count == 0)
    } else {
      _ = try await task.value
      // A reset drops nothing of what is not kept.
      let isUsed = change == .reset && lifetime == .unique
      #expect(sockets.count == (isUsed ? 1 : 2) && clients.count == 1)
    }
  }

  /// What is reset while the initialiser waits for its actor is not used, either.
  @Test(arguments: [UDILifetime.unique, .context]) func whileTheInitialiserWaitsForItsActor(
    _ lifetime: UDILifetime
  ) async throws {
    let (root, goOn, busy, waiting) = (root, DispatchSemaphore(value: 0), Latch(), Latch(lifetime == .unique ? 2 : 3))
    root.register(Socket.self, lifetime: .context) { () async in Socket() }
    root.register(Client.self, lifetime: lifetime, using: { @Busy (socket: Socket) in Client(socket: socket) })
    let blocked = Task { await Busy.shared.wait(for: goOn, busy) }
    await busy.wait()
    let task = Task {
      try await Schedule.$hook.withValue({ if $0 == .waits { waiting.arrive() } }) {
        try await root.obtain(Client.self)
      }
    }
    await waiting.wait()
    root.reset()
    if lifetime == .unique { root.register(Client.self, replaces: true, using: Client.init(socket:)) }
    goOn.signal()
    await blocked.value
    let client = try await task.value
    #expect(try await client.socket === root.obtain(Socket.self))
  }

  /// An actor with a thread of its own, so that a test may block it.
  @globalActor private actor Busy {
    static let shared = Busy()
    private let executor = OwnThread()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func wait(for semaphore: DispatchSemaphore, _ begun: Latch) {
      begun.arrive()
      semaphore.wait()
    }
  }

  /// What nobody may have any more is closed once.
  @Test func anAbandonedInstance() async throws {
    let (begun, goOn, closed, root) = (Latch(), Latch(), Tally(), root)
    root.register(Socket.self, lifetime: .context) { () async in
      begun.arrive()
      await goOn.wait()
      return Socket()
    }.onClose { _ in
      closed.add()
    }
    root.register(Client.self, lifetime: .context, using: Client.init(socket:)).onClose { _ in closed.add() }
    let task = Task { try await root.obtain(Client.self) }
    await begun.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    goOn.arrive()
    try await root.close()
    #expect(closed.count == 1)
  }
}
