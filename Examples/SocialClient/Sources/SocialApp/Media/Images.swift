import Synchronization

/// A picture that can be shown.
final class Picture: Sendable {
  let brightness: Int
  init(brightness: Int) { self.brightness = brightness }
}

/// Turns bytes into pictures.
protocol ImageDecoder: Sendable { func decode(_ bytes: [UInt8]) -> Picture }

/// Takes the mean of all bytes for the whole picture.
struct MeanDecoder: ImageDecoder {
  func decode(_ bytes: [UInt8]) -> Picture {
    Picture(brightness: bytes.isEmpty ? 0 : bytes.reduce(0) { $0 + Int($1) } / bytes.count)
  }
}

/// Keeps the bytes of the latest files.
final class FileCache: Sendable {
  private let files = Mutex<[String: [UInt8]]>([:])
  private let order = Mutex<[String]>([])

  private init() {}

  /// Opens the cache. A real one would read a folder.
  static func open() async -> FileCache {
    await Task.yield()
    return FileCache()
  }

  subscript(id: String) -> [UInt8]? { files.withLock { $0[id] } }

  func store(_ bytes: [UInt8], as id: String) {
    let dropped = order.withLock { order -> String? in
      order.append(id)
      return order.count > 50 ? order.removeFirst() : nil
    }
    files.withLock {
      if let dropped { $0[dropped] = nil }
      $0[id] = bytes
    }
  }
}

/// Keeps pictures while somebody shows them. The cache itself lives as long as somebody holds it (`.weak`).
final class PictureCache: Sendable {
  private let pictures = Mutex<[String: Picture]>([:])
  subscript(id: String) -> Picture? {
    get { pictures.withLock { $0[id] } }
    set { pictures.withLock { $0[id] = newValue } }
  }
}

/// Gets pictures from the nearest place that has them.
struct ImageLoader: Sendable {
  let client: SessionClient
  let files: FileCache
  let pictures: PictureCache
  let decoder: any ImageDecoder

  func load(_ id: String) async throws -> Picture {
    if let picture = pictures[id] { return picture }
    if files[id] == nil {
      guard case .media(let bytes) = try await client.send(.fetchMedia(id)) else { throw RequestError.unexpectedReply }
      files.store(bytes, as: id)
    }
    let picture = decoder.decode(files[id] ?? [])
    pictures[id] = picture
    return picture
  }
}

/// Brings files to the server.
struct MediaUploader: Sendable {
  let client: SessionClient
  let files: FileCache

  func upload(_ bytes: [UInt8]) async throws -> String {
    guard case .mediaID(let id) = try await client.send(.upload(bytes)) else { throw RequestError.unexpectedReply }
    files.store(bytes, as: id)
    return id
  }
}

/// Makes the line that stands for a link in a text.
struct LinkPreviews: Sendable {
  func preview(of text: String) -> String? {
    text.split(separator: " ").first { $0.hasPrefix("https://") }?
      .dropFirst(8).split(separator: "/").first.map { "a page of \($0)" }
  }
}
