/// The live objects that stand for values of the user's: for each value there is one object, which is held weakly and
/// takes itself out when it dies.
///
/// Values are compared by the user's `==`, so never under the lock: the candidates are copied under the lock and
/// compared without it. The outcome is valid if nobody has added an object meanwhile.
final class InternTable<Object: AnyObject>: @unchecked Sendable {
  // Unchecked: `lock` guards the entries.
  private let lock = Lock()
  /// The objects by the hashes of their values. Several objects are under one hash only if their values have the same.
  private var entries: [Int: [InternedObject]] = [:]

  /// The object that stands for a value, if there is one.
  ///
  /// - Parameters:
  ///   - hash: The hash of the value.
  ///   - isSame: Whether an object stands for the value. It may run user code.
  func find(_ hash: Int, where isSame: (Object) -> Bool) -> Object? { candidates(hash).first(where: isSame) }

  /// The object that stands for a value, made if there is none.
  ///
  /// - Parameters:
  ///   - hash: The hash of the value.
  ///   - isSame: Whether an object stands for the value. It may run user code.
  ///   - make: Makes the object, given all others with the same hash. It runs under the lock, so it runs no user code.
  @inline(__always)
  func intern(_ hash: Int, where isSame: (Object) -> Bool, make: ([Object]) -> Object) -> Object {
    var compared: [Object] = []
    while true {
      let (made, candidates) = lock.withLock { () -> (Object?, [Object]) in
        let live = live(hash)
        guard live.allSatisfy({ one in compared.contains { $0 === one } }) else { return (nil, live) }
        let made = make(live)
        entries[hash, default: []].append(InternedObject(object: made, identity: ObjectIdentifier(made)))
        return (made, live)
      }
      if let made { return made }
      if let found = candidates.first(where: isSame) { return found }
      compared = candidates
    }
  }

  /// Takes a dying object out.
  func remove(_ object: Object, _ hash: Int) {
    lock.withLock {
      entries[hash]?.removeAll { $0.identity == ObjectIdentifier(object) }
      if entries[hash]?.isEmpty ?? false { entries[hash] = nil }
    }
  }

  /// All objects under a hash. The caller releases them, with no lock held.
  func candidates(_ hash: Int) -> [Object] { lock.withLock { live(hash) } }

  private func live(_ hash: Int) -> [Object] {
    // All entries are for objects of this type.
    (entries[hash] ?? []).compactMap { $0.object.map { unsafe unsafeDowncast($0, to: Object.self) } }
  }
}

private struct InternedObject {
  weak let object: AnyObject?
  /// Identifies the object even when it is dying, and `object` is already nil.
  let identity: ObjectIdentifier
}
