import Synchronization

/// What a property with a wrapper looks up, and what it keeps.
///
/// A link is an object that does not know the dependency's type, so that clients compile little: for a read, they
/// compile a call with the address of an optional, as for any lookup (see `UDILinking+Link.swift`). If they read the
/// property's parts themselves, a read takes three times as long to compile, and one that is compiled elsewhere has to
/// copy all parts.
@usableFromInline
final class PropertyLink {
  /// What the declaration asks for.
  let request: LookupRequest
  /// How the property keeps its dependency; nil for a required dependency.
  private let keeping: UDIKeeping?

  /// Whether the property is filled when its object is attached.
  fileprivate var isFilled: Bool { keeping == nil }
  /// Guards `kept` and `stamp` if the property is filled: any thread may attach an object of a main-actor class while
  /// the main actor reads the property. This is a leaf among the locks. Other properties are used by the object's own
  /// code only. They do without the lock, which takes a third of a read ("@Linked" in `Benchmarks/compare`).
  fileprivate let lock = Lock()
  /// What was looked up and is kept strongly, or a value that was set. Nil if the property keeps weakly.
  private var kept: Instance?
  /// The same if the property keeps weakly. It needs no lock, because a property that is filled never keeps weakly.
  private var weaklyKept: (() -> Instance?)?
  /// The attachment's `stamp` at the time when the dependency was kept, or `pinned` if a value was set.
  private var stamp: UInt = 0

  /// The stamp of a value that was set rather than looked up. It is never out of date, but it might be nil or, if it is
  /// kept weakly, have been released.
  fileprivate static var pinned: UInt { .max }

  /// Whether the program has made a property with the wrapper `@Required`.
  static let someAreRequired = Atomic<Bool>(false)

  /// - Parameter keeping: How the property keeps its dependency; nil for a required dependency, which is kept strongly,
  ///   and looked up when the object is attached.
  init(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, keeps keeping: UDIKeeping? = nil,
    at site: UDICallSite
  ) {
    request = LookupRequest(type, reach, named: name, search: search, at: site)
    self.keeping = keeping
    if isFilled, !Self.someAreRequired.load(ordering: .relaxed) { Self.someAreRequired.store(true, ordering: .relaxed) }
  }

  /// What a read looks up; nil if a value has been set.
  var lookup: LookupRequest? { withLockIfFilled { stamp == Self.pinned ? nil : request } }

  private func withLockIfFilled<Result>(_ body: () -> Result) -> Result {
    if isFilled { lock.lock() }
    defer { if isFilled { lock.unlock() } }
    return body()
  }

  // MARK: - Reading

  /// How the kept value is stored, if it is up to date and can be written at once.
  fileprivate func form(_ now: UInt) -> StoredForm? {
    guard stamp >= now, let form = kept?.form, form.isComplete else { return nil }
    return form
  }

  /// The rest of `readProperty`: gives the kept value, whatever its form, or looks the dependency up.
  fileprivate func lookUp(
    _ attachment: UDIAttachment?, of owner: AnyObject, _ now: UInt, into memory: InstanceMemory
  ) {
    do {
      var given = withLockIfFilled { present(now) }
      if given == nil {
        if keeping == .never { return try look(attachment, for: owner, into: memory) }
        let found = try find(attachment, for: owner)
        given = replace(with: found, now, unlessKept: true) ?? found
      }
      if let given { _ = memory.write(given, isExact: true, as: request.type) }
    } catch { fatalError("\(request.site.fileID):\(request.site.line): \(describe(error, owner))") }
  }

  /// Looks up a required dependency of an object that has just been attached. If there is none, or if its factory
  /// throws, reports that.
  func fill(_ attachment: UDIAttachment, of owner: AnyObject, at site: UDICallSite?) {
    // If the object was attached elsewhere than where its property may be used, the first read looks it up.
    if request.reach == .mainActor, !runsOnMainActor { return }
    let now = attachment.stamp
    if withLockIfFilled({ present(now) }) != nil { return }
    do { replace(with: try find(attachment, for: owner), now, unlessKept: true) } catch {
      forget(before: now)
      // A missing dependency no longer matters if the factory has attached the object elsewhere.
      if attachment.stamp != now { return }
      UDIReporter.current.report(.needNotMet, describe(error, owner), at: site ?? request.site)
    }
  }

  /// Looks up the dependency, and wraps it. Where possible, this does without the metadata of the type's optional,
  /// which are slow to find.
  private func find(_ attachment: UDIAttachment?, for owner: AnyObject) throws -> Instance? {
    try Instance.written(as: request.type) { try look(attachment, for: owner, into: $0) }
  }

  /// Looks up the dependency, and writes it to memory.
  ///
  /// - Parameter attachment: The attachment of the object that has the property; nil to look in `AppContext`.
  /// - Throws: If the dependency is required and there is none.
  private func look(_ attachment: UDIAttachment?, for owner: AnyObject, into memory: InstanceMemory) throws {
    let (type, reach, name, search, site) = (request.type, request.reach, request.name, request.search, request.site)
    if let attachment, isFilled {
      try unsafe attachment._findOrThrow(
        type, reach, named: name, search: search, at: site, for: owner, into: memory.address)
    } else if let attachment {
      unsafe attachment._find(type, reach, named: name, search: search, at: site, for: owner, into: memory.address)
    } else {
      let app = AppContext
      unsafe app._find(type, reach, named: name, search: search, at: site, for: app, into: memory.address)
    }
  }

  private func describe(_ error: any Error, _ owner: AnyObject) -> String {
    guard var missing = error as? UDILinkError else {
      return "\(Swift.type(of: owner)) needs \(request.key.description), whose factory threw: \(error)"
    }
    if missing.chain.count > 1, !missing.chain[0].isProvider { missing.chain[0].property = name(in: owner) }
    return "\(missing)"
  }

  /// Stops the program, even in release builds, if the dependency is not `Sendable` and this code is not on the main
  /// actor. The compiler does not check on which actor a property with a wrapper is used.
  @inline(never)
  fileprivate func checkIsolation(of owner: AnyObject) {
    if request.reach == .anywhere { return }
    let site = request.site
    _ = isIsolatedToMainActor(request.type, "\(site.fileID):\(site.line): property of \(Swift.type(of: owner)): ")
  }

  /// The kept value, if it is up to date. Call this in `withLockIfFilled`, and release the result afterwards.
  private func present(_ now: UInt) -> Instance? { stamp >= now ? kept ?? weaklyKept?() : nil }

  // MARK: - Keeping

  /// Sets a value, or nil.
  @usableFromInline
  func set<Dependency>(_ value: Dependency?, of owner: AnyObject) {
    checkIsolation(of: owner)
    replace(with: value.map { Instance($0) }, Self.pinned)
  }

  /// Keeps a value.
  ///
  /// - Parameters:
  ///   - stamp: The attachment's `stamp` before the lookup.
  ///   - unlessKept: Whether a value that is kept already and is up to date stays. During the lookup, the property
  ///     might have been set or read, or its object attached elsewhere, for example by a factory.
  /// - Returns: The value that stays.
  @discardableResult
  private func replace(with value: Instance?, _ stamp: UInt, unlessKept: Bool = false) -> Instance? {
    if keeping == .weakly, let value, value.isBox {
      fatalError("\(describeType(type(of: value.anyValue))) is not a class, so a property cannot keep it weakly")
    }
    // The old value is released when everything has been written, because its `deinit` might use the property.
    let (known, old) = withLockIfFilled { () -> (Instance?, Instance?) in
      if unlessKept, let present = present(stamp) { return (present, nil) }
      let old = kept
      self.stamp = stamp
      if keeping == .weakly { weaklyKept = value?.weakly } else { kept = value }
      return (nil, old)
    }
    withExtendedLifetime((old, value)) {}
    return known
  }

  /// Releases the dependency that was looked up under an earlier stamp, if this code runs where the property may be
  /// used.
  func forget(before now: UInt) {
    if request.reach == .mainActor, !runsOnMainActor { return }
    let old = withLockIfFilled { stamp < now ? kept.take() : nil }
    withExtendedLifetime(old) {}
  }
}

// MARK: - Reads

// These are functions rather than methods. The caller of a method would have to retain and release the link, which
// takes longer than the rest of a read. The link is their last argument, because the owner's own code, which might
// replace the property, runs while the attachment is read.

/// Reads the dependency of an object. This is what clients compile of a read.
///
/// - Parameters:
///   - attachment: The object's attachment; nil to look in `AppContext`.
///   - link: What the property looks up. The owner holds it.
/// - Returns: Nil if there is no dependency. If it is required, the program has stopped instead.
@_alwaysEmitIntoClient @inline(__always)
func readProperty<Dependency>(
  of owner: AnyObject, _ attachment: UDIAttachment?, _ link: Unmanaged<PropertyLink>
) -> Dependency? {
  var found: Dependency?
  unsafe withUnsafeMutablePointer(to: &found) {
    unsafe readProperty(of: owner, attachment, link, into: UnsafeMutableRawPointer($0))
  }
  return found
}

/// Does the same, and writes the dependency to memory. If none is found, the memory is not changed.
///
/// - Parameter memory: The memory of an optional of the type. It must contain nil.
@usableFromInline
func readProperty(
  of owner: AnyObject, _ attachment: UDIAttachment?, _ link: Unmanaged<PropertyLink>,
  into memory: UnsafeMutableRawPointer
) {
  let now = attachment?.stamp ?? PropertyLink.pinned
  let (held, memory) = unsafe (Unretained(link), InstanceMemory(address: memory))
  if held.read({ $0.request.reach == .mainActor }) { held.read { $0.checkIsolation(of: owner) } }
  // Most reads end here. The only retain is the one for the caller's reference.
  if !held.read(\.isFilled) {
    if let form = held.read({ $0.form(now) }) { return memory.write(form) }
  } else {
    held.read { $0.lock.lock() }
    if let form = held.read({ $0.form(now) }) {
      memory.write(form)
      return held.read { $0.lock.unlock() }
    }
    held.read { $0.lock.unlock() }
  }
  // A factory might replace the owner's property, so the link is retained from here on.
  held.object.lookUp(attachment, of: owner, now, into: memory)
}
