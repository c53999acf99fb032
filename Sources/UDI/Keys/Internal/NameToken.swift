/// Stands for the value of a name that was made on the main actor: there is one token for all equal values of one type.
///
/// The value need not be `Sendable`, and its `==`, `hash(into:)` and `description` may belong to the main actor, but
/// names go anywhere. So all three are called only while a name is made. Afterwards, tokens are compared by identity,
/// and the token stores the hash and the description.
final class NameToken: Hashable, @unchecked Sendable {
  // Unchecked: `box` is read where names are made, which is on the main actor, and set by `deinit`, when nobody else
  // has the token.

  /// The value's hash.
  let digest: Int
  /// The value as it describes itself.
  let description: String
  private var box: NameBox?

  private init(_ box: NameBox, _ digest: Int) {
    self.digest = digest
    self.box = box
    description = box.description
  }

  static func == (left: NameToken, right: NameToken) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(digest) }

  deinit {
    Self.forget(self)
    if let box = box.take() { releaseOnMainActor(consume box) }
  }
}

// MARK: - The table of live tokens

extension NameToken {
  // Values are compared by the user's `==`, so never under `lock`: the candidates are copied under the lock and
  // compared without it. The outcome is valid if nobody has added a token meanwhile.

  private static let lock = Lock()
  /// Guarded by `lock`: the live tokens, by their digests.
  private nonisolated(unsafe) static var buckets: [Int: [Entry]] = [:]

  private struct Entry {
    weak let token: NameToken?
    /// Identifies the token even when it is dying, and `token` is already nil.
    let identity: ObjectIdentifier
  }

  /// The token of a value. To be called on the main actor, where the value may be compared and described.
  static func of(_ value: some Hashable) -> NameToken {
    let box = NameBox(value)
    let digest = box.hashValue
    var compared: [NameToken] = []
    var made: NameToken?
    while true {
      let (isAdded, candidates) = lock.withLock { () -> (Bool, [NameToken]) in
        let live = unsafe (buckets[digest] ?? []).compactMap(\.token)
        guard let made, live.allSatisfy({ one in compared.contains { $0 === one } }) else { return (false, live) }
        unsafe buckets[digest, default: []].append(Entry(token: made, identity: ObjectIdentifier(made)))
        return (true, live)
      }
      if isAdded, let made { return made }
      if let found = candidates.first(where: { $0.box == box }) { return found }
      compared = candidates
      made = made ?? NameToken(box, digest)
    }
  }

  private static func forget(_ token: NameToken) {
    lock.withLock {
      guard var bucket = unsafe buckets[token.digest] else { return }
      bucket.removeAll { $0.identity == ObjectIdentifier(token) }
      unsafe buckets[token.digest] = bucket.isEmpty ? nil : bucket
    }
  }

  /// How many tokens with a digest are in the table, for tests.
  static func count(digest: Int) -> Int { lock.withLock { unsafe buckets[digest]?.count ?? 0 } }
}
