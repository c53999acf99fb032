import Synchronization

/// Runs jobs when the platform gives the app time in the background. It belongs to the app, its jobs to sessions.
final class BackgroundScheduler: Sendable {
  private let ids: IDSource
  private let errors: ErrorReports
  private let jobs = Mutex<[Int: @Sendable () async throws -> Void]>([:])

  init(ids: IDSource, errors: ErrorReports) {
    self.ids = ids
    self.errors = errors
  }

  var count: Int { jobs.withLock { $0.count } }

  func add(_ job: @escaping @Sendable () async throws -> Void) -> Int {
    let id = ids.next()
    jobs.withLock { $0[id] = job }
    return id
  }

  func remove(_ id: Int) {
    let removed = jobs.withLock { $0.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  func run() async {
    for job in jobs.withLock({ Array($0.values) }) {
      do { try await job() } catch { errors.add(error) }
    }
  }
}

/// Puts what the server tells into the stores.
struct Inbox: Sendable {
  let posts: PostStore
  let notices: NoticeStore
  let index: SearchIndex

  func add(_ new: [Post]) {
    posts.insert(new)
    index.add(new)
  }

  func add(_ event: Event) {
    switch event {
    case .posted(let post): add([post])
    case .noticed(let notice): notices.insert([notice])
    }
  }
}

/// Gets what is new, and sends what waits.
struct SyncEngine: Sendable {
  let client: SessionClient
  let inbox: Inbox
  let outbox: Outbox

  func sync() async throws {
    try await outbox.flush()
    guard case .posts(let posts) = try await client.send(.timeline(after: inbox.posts.lastID)),
      case .notices(let notices) = try await client.send(.notices(after: inbox.notices.lastID))
    else { throw RequestError.unexpectedReply }
    inbox.add(posts)
    inbox.notices.insert(notices)
  }
}

/// Syncs in the background. The scheduler outlives the session, so the job has to be cancelled.
final class SyncJob: Sendable {
  private let scheduler: BackgroundScheduler
  private let id: Int

  init(scheduler: BackgroundScheduler, engine: SyncEngine) {
    self.scheduler = scheduler
    id = scheduler.add { try await engine.sync() }
  }

  func cancel() { scheduler.remove(id) }
}

/// A connection on which the server tells what happens.
struct LiveUpdates: Sendable {
  private let client: SessionClient

  init(client: SessionClient, inbox: Inbox) async throws {
    self.client = client
    try await client.openStream { event in inbox.add(event) }
  }

  func close() async { await client.closeStream() }
}
