/// A table of objects that represent users' values, one object for each value. The table holds the objects weakly, and
/// an object removes itself from the table when it is released.
///
/// Comparing values calls the user's `==`, which must not run under the lock. The objects with the right hash are
/// therefore collected under the lock, and compared while the lock is not held. If none of them represents the value, a
/// new object is added. If another thread has added an object with the same hash in the meantime, the comparison is
/// repeated first.
final class InternTable<Object: AnyObject>: @unchecked Sendable {
  // Unchecked: `lock` guards the entries.
  private let lock = Lock()
  /// The objects, grouped by the hashes of their values.
  private var entries: [Int: [InternedObject]] = [:]

  /// Returns the object that represents the given value, if there is one.
  ///
  /// - Parameters:
  ///   - hash: The hash of the value.
  ///   - isSame: Returns whether an object represents the value. It may run user code.
  func find(_ hash: Int, where isSame: (Object) -> Bool) -> Object? { candidates(hash).first(where: isSame) }

  /// Finds or makes the object that represents the given value.
  ///
  /// - Parameters:
  ///   - hash: The hash of the value.
  ///   - isSame: Returns whether an object represents the value. It may run user code.
  ///   - make: Makes the object. It is given all other objects with the same hash. It runs under the lock, so it must
  ///     not run user code.
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

  /// Removes an object that is being released.
  func remove(_ object: Object, _ hash: Int) {
    lock.withLock {
      entries[hash]?.removeAll { $0.identity == ObjectIdentifier(object) }
      if entries[hash]?.isEmpty ?? false { entries[hash] = nil }
    }
  }

  /// All objects with the given hash that still exist. The caller must hold no lock when it releases them.
  func candidates(_ hash: Int) -> [Object] { lock.withLock { live(hash) } }

  private func live(_ hash: Int) -> [Object] {
    // The cast is safe, because all entries are for objects of this type.
    (entries[hash] ?? []).compactMap { $0.object.map { unsafe unsafeDowncast($0, to: Object.self) } }
  }
}

private struct InternedObject {
  weak let object: AnyObject?
  /// Identifies the object even while it is dying, when `object` is already nil.
  let identity: ObjectIdentifier
}
