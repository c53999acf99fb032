/// A property wrapper that keeps what it has looked up, or what was set.
@usableFromInline
protocol KeepingWrapper {
  associatedtype Dependency
  var kept: Dependency? { get set }
  /// The stamp that the attachment had when the value was kept, or `LinkRequest.pinned` if the value was set.
  var stamp: UInt { get set }
}

extension KeepingWrapper {
  /// Whether a read needs a lookup. A value that was set, other than nil, is never out of date.
  @inlinable
  @inline(__always)
  func isOutOfDate(_ now: UInt) -> Bool { kept == nil || stamp != now && stamp != LinkRequest.pinned }

  /// Keeps a value instead of the old one, and returns the old one. The caller holds the old value until the write is
  /// over, because the value's `deinit` may use the property.
  @inlinable
  @inline(__always)
  mutating func keep(_ value: Dependency?, _ stamp: UInt) -> Dependency? {
    let old = kept
    kept = value
    self.stamp = stamp
    return old
  }
}
