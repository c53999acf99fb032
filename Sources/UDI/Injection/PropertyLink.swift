/// What a property with a wrapper looks up, and what it keeps.
@usableFromInline
struct PropertyLink<Dependency> {
  /// What the declaration asks for.
  @usableFromInline let request: LookupRequest
  @usableFromInline let keeping: UDIKeeping

  /// What was looked up and is kept strongly, or a value that was set; nil if it is in `weaklyKept`.
  @usableFromInline var kept: Dependency?
  @usableFromInline var weaklyKept: WeakEntry?
  /// The attachment's `stamp` at the time when the dependency was kept, or `pinned` if a value was set.
  @usableFromInline var stamp: UInt = 0

  /// The stamp of a value that was set rather than looked up.
  @usableFromInline static var pinned: UInt { .max }

  init(
    _ reach: UDIReach, named name: UDIName?, search: UDISearch?, keeps keeping: UDIKeeping = .strongly,
    at site: UDICallSite
  ) {
    request = LookupRequest(Dependency.self, reach, named: name, search: search, at: site)
    self.keeping = keeping
  }

  /// Looks up a required dependency from the object's effective context. Stops the program if there is none, or if its
  /// factory throws.
  ///
  /// - Parameter property: The key path of the property's storage, by which the message names the property.
  @usableFromInline
  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  func require(for owner: some UDIObject, _ property: AnyKeyPath?) -> Dependency {
    do {
      return try owner.lookUpOrThrow(
        Dependency.self, request.reach, named: request.name, search: request.search, at: request.site)
    } catch {
      let place = "\(request.site.fileID):\(request.site.line)"
      if let missing = error as? UDILinkError { fatalError("\(place): \(missing.asked(by: property))") }
      let key = describeKey(TypeIdentity.of(Dependency.self).text, request.name?.description)
      fatalError("\(place): \(Swift.type(of: owner)) needs \(key), whose factory threw: \(error)")
    }
  }

  /// Keeps what was looked up, and returns what the read gives, with the value that was kept before. The caller has to
  /// hold the old value until the write is over, because the old value's `deinit` might use the property.
  ///
  /// - Parameter now: The attachment's `stamp` before the lookup.
  @usableFromInline
  mutating func keep(_ found: Dependency?, _ now: UInt) -> (given: Dependency?, old: Dependency?) {
    // During the lookup, the property might have been set or read, for example by a factory. A value that the property
    // got in this way stays.
    let (isCurrent, kept) = latest(now)
    if isCurrent, let known = kept ?? weaklyKept?.load(as: Dependency.self) { return (known, nil) }
    return (found, replace(with: found, now))
  }

  /// Sets a value, and returns the old one, which the caller has to hold until the write is over.
  @usableFromInline
  mutating func set(_ value: Dependency?, _ owner: AnyObject) -> Dependency? {
    Self.checkIsolation(place, owner)
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

// MARK: - What a read needs

// A read gets what it needs by key paths, in the caller's module. Each of the following members copies only what it
// returns. If a method were called that is not inlined, all of the property would be copied for the call, which takes
// longer than a lookup.
extension PropertyLink {
  /// Where the dependency may be used, and where the property is declared.
  @inlinable var place: (reach: UDIReach, site: UDICallSite) {
    @inline(__always) get { (request.reach, request.site) }
  }

  /// Whether what is kept is up to date, and if so, what is kept strongly. A value that was set is never out of date,
  /// but it might be nil or, if it is kept weakly, have been released.
  ///
  /// - Parameter now: The attachment's current `stamp`.
  @inlinable
  @inline(__always)
  func latest(_ now: UInt) -> (isCurrent: Bool, kept: Dependency?) {
    let isCurrent = stamp == now || stamp == Self.pinned
    return (isCurrent, isCurrent ? kept : nil)
  }

  /// What a lookup needs.
  @inlinable var asked: (request: LookupRequest, keeping: UDIKeeping) {
    @inline(__always) get { (request, keeping) }
  }

  /// Stops the program, even in release builds, if the dependency is not `Sendable` and this code is not on the main
  /// actor. The compiler does not check on which actor a property with a wrapper is used.
  @inlinable
  @inline(__always)
  static func checkIsolation(_ place: (reach: UDIReach, site: UDICallSite), _ owner: AnyObject) {
    if place.reach == .mainActor { stopElsewhere(Dependency.self, of: owner, at: place.site) }
  }
}

/// Stops the program if this code is not on the main actor.
@usableFromInline
func stopElsewhere(_ type: Any.Type, of owner: AnyObject, at site: UDICallSite) {
  _ = MainActorCheck.isIsolated(type, "\(site.fileID):\(site.line): property of \(Swift.type(of: owner)): ")
}
