/// What a property with a wrapper looks up, and what it keeps.
@usableFromInline
struct PropertyLink<Dependency> {
  @usableFromInline let request: LinkRequest
  /// What was looked up and is kept strongly, or a value that was set; nil if it is in `weaklyKept`.
  @usableFromInline var kept: Dependency?
  @usableFromInline var weaklyKept: WeakEntry?
  /// The attachment's `stamp` at the time when the dependency was kept, or `pinned` if a value was set.
  @usableFromInline var stamp: UInt = 0

  /// The stamp of a value that was set rather than looked up.
  @usableFromInline static var pinned: UInt { .max }

  init(_ request: LinkRequest) { self.request = request }

  /// Stops the program, even in release builds, if the dependency is not `Sendable` and this code is not on the main
  /// actor. The compiler does not check on which actor a property with a wrapper is used.
  @inlinable
  @inline(__always)
  func checkIsolation(_ owner: AnyObject) {
    if request.reach == .mainActor { request.stopElsewhere(Dependency.self, owner) }
  }

  /// What a read gives without a lookup; nil if the read needs a lookup. A value that was set is never out of date, but
  /// it might have been released.
  ///
  /// - Parameter now: The attachment's current `stamp`.
  @inlinable
  @inline(__always)
  func known(_ now: UInt, _ owner: AnyObject) -> Dependency? {
    checkIsolation(owner)
    guard stamp == now || stamp == Self.pinned else { return nil }
    return kept ?? weaklyKept?.load(as: Dependency.self)
  }

  /// Keeps what was looked up, and returns what the read gives, with the value that was kept before. The caller has to
  /// hold the old value until the write is over, because the old value's `deinit` might use the property.
  ///
  /// - Parameter now: The attachment's `stamp` before the lookup.
  @inlinable
  mutating func keep(_ found: Dependency?, _ now: UInt, _ owner: AnyObject) -> (given: Dependency?, old: Dependency?) {
    if request.keeping == .never { return (found, nil) }
    // During the lookup, the property might have been set or read, for example by a factory. A value that the property
    // got in this way stays.
    if let known = known(now, owner) { return (known, nil) }
    return (found, replace(with: found, now))
  }

  /// Sets a value, and returns the old one, which the caller has to hold until the write is over.
  @usableFromInline
  mutating func set(_ value: Dependency?, _ owner: AnyObject) -> Dependency? {
    checkIsolation(owner)
    return replace(with: value, Self.pinned)
  }

  @usableFromInline
  mutating func replace(with value: Dependency?, _ stamp: UInt) -> Dependency? {
    let old = kept
    let isWeak = request.keeping == .weakly
    kept = isWeak ? nil : value
    weaklyKept = isWeak ? value.map(Self.entry) : nil
    self.stamp = stamp
    return old
  }

  private static func entry(for value: Dependency) -> WeakEntry {
    guard let form = StoredForm.of(value, as: Dependency.self) else {
      fatalError("\(describeType(type(of: value as Any))) is not a class, so a property cannot keep it weakly")
    }
    defer { withExtendedLifetime(value) {} }
    return WeakEntry(form)
  }
}
