/// What a client can ask of a server.
enum Request: Hashable, Sendable {
  case logIn(Handle, password: String)
  case logOut
  case timeline(after: Int)
  case notices(after: Int)
  case publish(String, replyTo: Int?, media: [String])
  case like(Int)
  case follow(Handle)
  case unfollow(Handle)
  case profile(Handle)
  case trends
  case upload([UInt8])
  case fetchMedia(String)
  case addDevice(String)
  case removeDevice(String)
}

/// What a server answers.
enum Reply: Hashable, Sendable {
  case done
  case token(Token)
  case posts([Post])
  case notices([Notice])
  case post(Post)
  case profile(Profile)
  case trends([String])
  case mediaID(String)
  case media([UInt8])
}

/// Why a request failed.
enum RequestError: Error, Equatable {
  case offline
  case unauthorized
  case notFound
  case unexpectedReply
}

/// What a server sends without being asked.
enum Event: Hashable, Sendable {
  case posted(Post)
  case noticed(Notice)
}
