/// What a property with a wrapper looks up, and what it keeps.
@usableFromInline
struct PropertyLink<Dependency> {
  // The arguments of the declaration.
  private let name: UDIName?
  private let search: UDISearch?
  private let keeping: UDIKeeping
  private let isRequired: Bool
  private let site: UDICallSite
  /// Where the dependency may be used, which depends on its declared type.
  @usableFromInline let reach: UDIReach

  /// What was looked up and is kept strongly, or a value that was set; nil if it is in `weaklyKept`.
  @usableFromInline var kept: Dependency?
  @usableFromInline var weaklyKept: WeakEntry?
  /// The attachment's `stamp` at the time when the dependency was kept, or `pinned` if a value was set.
  @usableFromInline var stamp: UInt = 0

  /// The stamp of a value that was set rather than looked up.
  @usableFromInline static var pinned: UInt { .max }

  init(
    _ reach: UDIReach, named name: UDIName?, search: UDISearch?, keeps keeping: UDIKeeping = .strongly,
    isRequired: Bool = false, at site: UDICallSite
  ) {
    self.name = name
    self.search = search
    self.keeping = keeping
    self.isRequired = isRequired
    self.reach = reach
    self.site = site
  }

  /// Stops the program, even in release builds, if the dependency is not `Sendable` and this code is not on the main
  /// actor. The compiler does not check on which actor a property with a wrapper is used.
  @inlinable
  @inline(__always)
  func checkIsolation(_ owner: AnyObject) {
    if reach == .mainActor { stopElsewhere(owner) }
  }

  @usableFromInline
  func stopElsewhere(_ owner: AnyObject) {
    _ = MainActorCheck.isIsolated(
      Dependency.self, "\(site.fileID):\(site.line): property of \(Swift.type(of: owner)): ")
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

  /// Looks up the dependency from the object's effective context. If it is required, stops the program if there is
  /// none, or if its factory throws.
  ///
  /// - Parameter property: The key path of the property's storage, by which the message names the property.
  @usableFromInline
  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  func find(_ owner: some UDIObject, _ property: AnyKeyPath?) -> Dependency? {
    guard isRequired else { return owner.lookUp(Dependency.self, reach, named: name, search: search, at: site) }
    do { return try owner.lookUpOrThrow(Dependency.self, reach, named: name, search: search, at: site) } catch {
      let place = "\(site.fileID):\(site.line)"
      if let missing = error as? UDILinkError { fatalError("\(place): \(missing.asked(by: property))") }
      let key = describeKey(TypeIdentity.of(Dependency.self).text, name)
      fatalError("\(place): \(Swift.type(of: owner)) needs \(key), whose factory threw: \(error)")
    }
  }

  /// Looks up the dependency from `AppContext`.
  @usableFromInline
  func findFromApp() -> Dependency? { AppContext.lookUp(Dependency.self, reach, named: name, search: search, at: site) }

  /// Keeps what was looked up, and returns what the read gives, with the value that was kept before. The caller has to
  /// hold the old value until the write is over, because the old value's `deinit` might use the property.
  ///
  /// - Parameter now: The attachment's `stamp` before the lookup.
  @usableFromInline
  mutating func keep(_ found: Dependency?, _ now: UInt, _ owner: AnyObject) -> (given: Dependency?, old: Dependency?) {
    if keeping == .never { return (found, nil) }
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
    let isWeak = keeping == .weakly
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

  /// Returns the key path in debug builds, and nil in release builds. In release builds the key path is not even
  /// evaluated, because evaluating it would slow down every read of a kept value.
  @inlinable
  @inline(__always)
  static func inDebug(_ property: @autoclosure () -> AnyKeyPath) -> AnyKeyPath? {
    var made: AnyKeyPath?
    func make() -> Bool {
      made = property()
      return true
    }
    assert(make())
    return made
  }
}
