import Synchronization

/// Whom this account follows and blocks.
struct Relationships: Sendable {
  let client: SessionClient
  let database: any Database
  let analytics: any Analytics

  func follow(_ handle: Handle) async throws {
    _ = try await client.send(.follow(handle))
    analytics.track("follow")
  }

  func unfollow(_ handle: Handle) async throws { _ = try await client.send(.unfollow(handle)) }

  var blocked: [Handle] { database.rows(of: "blocked").map { Handle($0) } }
  func block(_ handle: Handle) {
    database.setRows(of: "blocked", to: database.rows(of: "blocked") + [handle.name])
  }
}

/// What is known about people; asks the server once for each.
final class Profiles: Sendable {
  private let client: SessionClient
  private let known = Mutex<[Handle: Profile]>([:])

  init(client: SessionClient) { self.client = client }

  func profile(of handle: Handle) async throws -> Profile {
    if let profile = known.withLock({ $0[handle] }) { return profile }
    guard case .profile(let profile) = try await client.send(.profile(handle)) else {
      throw RequestError.unexpectedReply
    }
    known.withLock { $0[handle] = profile }
    return profile
  }
}

/// What the person has decided about this account.
struct Preferences: Sendable {
  let database: any Database

  var mutedWords: [String] {
    get { database.rows(of: "muted words") }
    nonmutating set { database.setRows(of: "muted words", to: newValue) }
  }
  var hidesReplies: Bool {
    get { database.rows(of: "hides replies") == ["yes"] }
    nonmutating set { database.setRows(of: "hides replies", to: newValue ? ["yes"] : []) }
  }
}
