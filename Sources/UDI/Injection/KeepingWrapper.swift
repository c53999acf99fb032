/// A property wrapper that keeps a dependency that it has looked up, or a value that was set.
@usableFromInline
protocol KeepingWrapper {
  associatedtype Dependency
  var kept: Dependency? { get set }
  /// The attachment's `stamp` at the time when the dependency was kept, or `LinkRequest.pinned` if a value was set.
  var stamp: UInt { get set }
}

extension KeepingWrapper {
  /// Whether a read has to look the dependency up. A value that was set is never out of date, unless it is nil.
  ///
  /// - Parameter now: The attachment's current `stamp`.
  @inlinable
  @inline(__always)
  func isOutOfDate(_ now: UInt) -> Bool { kept == nil || stamp != now && stamp != LinkRequest.pinned }

  /// Replaces the kept value, and returns the old one. The caller has to hold the old value until the write is over,
  /// because the old value's `deinit` might use the property.
  @inlinable
  @inline(__always)
  mutating func keep(_ value: Dependency?, _ stamp: UInt) -> Dependency? {
    let old = kept
    kept = value
    self.stamp = stamp
    return old
  }
}
