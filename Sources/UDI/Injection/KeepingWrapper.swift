/// A property wrapper that keeps what it has looked up, or what was set.
@usableFromInline
protocol KeepingWrapper {
  associatedtype Dependency
  var kept: Dependency? { get set }
  /// The attachment's stamp when the value was kept, or `LinkRequest.pinned`.
  var stamp: UInt { get set }
}

extension KeepingWrapper {
  /// Whether a read needs a lookup. A value that was set is never out of date.
  @inlinable
  @inline(__always)
  func isOutOfDate(_ now: UInt) -> Bool { kept == nil || stamp != now && stamp != LinkRequest.pinned }

  /// Keeps a value instead of the old one, which it returns: the caller holds that until the write is over, because its
  /// `deinit` may touch the property.
  @inlinable
  @inline(__always)
  mutating func keep(_ value: Dependency?, _ stamp: UInt) -> Dependency? {
    let old = kept
    kept = value
    self.stamp = stamp
    return old
  }
}
