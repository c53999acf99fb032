import Synchronization

/// A server in memory, which the client reaches through a `LoopbackTransport`.
///
/// It is the other side of the wire, and no part of the tree.
public final class SocialServer: Sendable {
  private struct State {
    var passwords: [Handle: String] = [:]
    var sessions: [Token: Handle] = [:]
    var posts: [Post] = []
    var notices: [Handle: [Notice]] = [:]
    var followed: [Handle: Set<Handle>] = [:]
    var media: [String: [UInt8]] = [:]
    var devices: [Handle: Set<String>] = [:]
    var streams: [Token: @Sendable (Event) -> Void] = [:]
    var lastID = 0

    mutating func nextID() -> Int {
      lastID += 1
      return lastID
    }
  }

  private let state = Mutex(State())

  /// Makes a server on which Ann and Ben have accounts, and Ben has written two posts.
  public init() {
    state.withLock { $0.passwords = ["ann": "apple", "ben": "banana"] }
    publish("Good morning #weather", by: "ben", replyTo: nil, media: [])
    publish("Rain at last #weather #garden", by: "ben", replyTo: nil, media: [])
  }

  /// What the server still keeps for clients that have logged in.
  struct OpenEnds: Equatable, CustomStringConvertible {
    var sessions = 0
    var streams = 0
    var devices = 0
    var description: String { "\(sessions) sessions, \(streams) streams, \(devices) devices" }
  }

  var openEnds: OpenEnds {
    state.withLock {
      OpenEnds(
        sessions: $0.sessions.count, streams: $0.streams.count,
        devices: $0.devices.values.reduce(0) { $0 + $1.count })
    }
  }

  func answer(_ request: Request, token: Token?) throws -> Reply {
    if case .logIn(let handle, let password) = request { return .token(try logIn(handle, password)) }
    guard let token, let me = state.withLock({ $0.sessions[token] }) else { throw RequestError.unauthorized }
    switch request {
    case .publish(let text, let replyTo, let media):
      return .post(publish(text, by: me, replyTo: replyTo, media: media))
    case .like(let id):
      guard let post = state.withLock({ $0.posts.first { $0.id == id } }) else { throw RequestError.notFound }
      notify(post.author, .like, from: me, post: id)
      return .done
    case .follow(let other):
      state.withLock { _ = $0.followed[me, default: []].insert(other) }
      notify(other, .follow, from: me, post: nil)
      return .done
    default:
      return try state.withLock { try answer(request, &$0, me, token) }
    }
  }

  /// Opens a stream of events, and replaces the one that the token had before.
  func openStream(_ token: Token, deliver: @escaping @Sendable (Event) -> Void) throws {
    try state.withLock {
      guard $0.sessions[token] != nil else { throw RequestError.unauthorized }
      $0.streams[token] = deliver
    }
  }

  /// Ends all sessions, as if their time were over.
  func expireSessions() {
    let closed = state.withLock { state in
      let closed = state.streams
      (state.sessions, state.devices, state.streams) = ([:], [:], [:])
      return closed
    }
    withExtendedLifetime(closed) {}
  }

  func closeStream(_ token: Token) {
    let closed = state.withLock { $0.streams.removeValue(forKey: token) }
    withExtendedLifetime(closed) {}
  }

  private func logIn(_ handle: Handle, _ password: String) throws -> Token {
    try state.withLock {
      guard $0.passwords[handle] == password else { throw RequestError.unauthorized }
      let token = Token(text: "\(handle.name)-\($0.nextID())")
      $0.sessions[token] = handle
      return token
    }
  }

  private func answer(_ request: Request, _ state: inout State, _ me: Handle, _ token: Token) throws -> Reply {
    switch request {
    case .logOut: state.sessions[token] = nil
    case .timeline(let after): return .posts(state.posts.filter { $0.id > after })
    case .notices(let after): return .notices(state.notices[me, default: []].filter { $0.id > after })
    case .unfollow(let other): state.followed[me]?.remove(other)
    case .profile(let handle):
      guard state.passwords[handle] != nil else { throw RequestError.notFound }
      let followers = state.followed.values.count { $0.contains(handle) }
      let posts = state.posts.count { $0.author == handle }
      return .profile(Profile(handle: handle, posts: posts, followers: followers))
    case .trends:
      var counts: [String: Int] = [:]
      for tag in state.posts.flatMap(\.tags) { counts[tag, default: 0] += 1 }
      return .trends(counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key))
    case .upload(let bytes):
      let id = "media-\(state.nextID())"
      state.media[id] = bytes
      return .mediaID(id)
    case .fetchMedia(let id):
      guard let bytes = state.media[id] else { throw RequestError.notFound }
      return .media(bytes)
    case .addDevice(let device): state.devices[me, default: []].insert(device)
    case .removeDevice(let device): state.devices[me]?.remove(device)
    case .logIn, .publish, .like, .follow: throw RequestError.unexpectedReply
    }
    return .done
  }

  @discardableResult
  private func publish(_ text: String, by author: Handle, replyTo: Int?, media: [String]) -> Post {
    let (post, streams) = state.withLock { state in
      let post = Post(id: state.nextID(), author: author, text: text, replyTo: replyTo, media: media)
      state.posts.append(post)
      return (post, Array(state.streams.values))
    }
    for deliver in streams { deliver(.posted(post)) }
    for handle in post.mentions { notify(handle, .mention, from: author, post: post.id) }
    return post
  }

  private func notify(_ handle: Handle, _ kind: Notice.Kind, from: Handle, post: Int?) {
    let (notice, streams) = state.withLock { state in
      let notice = Notice(id: state.nextID(), kind: kind, from: from, post: post)
      state.notices[handle, default: []].append(notice)
      return (notice, state.streams.filter { state.sessions[$0.key] == handle }.map(\.value))
    }
    for deliver in streams { deliver(.noticed(notice)) }
  }
}
