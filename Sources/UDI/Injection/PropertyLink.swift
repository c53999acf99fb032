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
  private let request: LookupRequest
  private let keeping: UDIKeeping

  /// Whether the property is filled when its object is attached.
  private let isFilled: Bool
  /// Guards `kept` and `stamp` if the property is filled: any thread may attach an object of a main-actor class while
  /// the main actor reads the property. This is a leaf among the locks. Other properties are used by the object's own
  /// code only. They do without the lock, which takes a third of a read ("@Linked" in `Benchmarks/compare`).
  private let lock = Lock()
  /// What was looked up and is kept strongly, or a value that was set; nil if it is in `weaklyKept`.
  private var kept: Instance?
  /// Needs no lock, because no property that is filled keeps weakly.
  private var weaklyKept: WeakEntry?
  /// The attachment's `stamp` at the time when the dependency was kept, or `pinned` if a value was set.
  private var stamp: UInt = 0

  /// The stamp of a value that was set rather than looked up. It is never out of date, but it might be nil or, if it is
  /// kept weakly, have been released.
  private static var pinned: UInt { .max }

  /// Whether the program has made a property with the wrapper `@Required`.
  static let someAreRequired = Atomic<Bool>(false)

  init(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?,
    keeps keeping: UDIKeeping = .strongly, isFilled: Bool = false, at site: UDICallSite
  ) {
    self.isFilled = isFilled
    request = LookupRequest(type, reach, named: name, search: search, at: site)
    self.keeping = keeping
  }

  /// Makes the link of a required dependency.
  static func required(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite
  ) -> PropertyLink {
    if !someAreRequired.load(ordering: .relaxed) { someAreRequired.store(true, ordering: .relaxed) }
    return PropertyLink(type, reach, named: name, search: search, isFilled: true, at: site)
  }

  /// What a read looks up; nil if a value has been set.
  var lookup: LookupRequest? {
    begin()
    defer { end() }
    return stamp == Self.pinned ? nil : request
  }

  @inline(__always)
  private func begin() { if isFilled { lock.lock() } }

  @inline(__always)
  private func end() { if isFilled { lock.unlock() } }

  // MARK: - Reading. The memory is that of an optional of the type, and contains nil

  /// Reads an optional dependency of an object. If none is found, the memory is not changed.
  ///
  /// - Parameter attachment: The object's attachment; nil to look in `AppContext`.
  @usableFromInline
  func read(_ attachment: UDIAttachment?, of owner: AnyObject, into memory: UnsafeMutableRawPointer) {
    checkIsolation(of: owner)
    let now = attachment?.stamp ?? Self.pinned
    let memory = unsafe InstanceMemory(address: memory)
    if write(now, to: memory) { return }
    let (type, reach, name) = (request.type, request.reach, request.name)
    if let attachment {
      unsafe attachment.find(
        type, reach, named: name, search: request.search, at: request.site, for: owner, into: memory.address)
    } else {
      unsafe AppContext._find(
        type, reach, named: name, search: request.search, at: request.site, into: memory.address)
    }
    if keeping != .never { keep(memory, now) }
  }

  /// Reads a required dependency of an object. Stops the program if there is none, or if its factory throws.
  @usableFromInline
  func require(_ attachment: UDIAttachment, of owner: AnyObject, into memory: UnsafeMutableRawPointer) {
    checkIsolation(of: owner)
    let now = attachment.stamp
    let memory = unsafe InstanceMemory(address: memory)
    if write(now, to: memory) { return }
    do { try look(attachment, of: owner, into: memory) } catch {
      fatalError("\(request.site.fileID):\(request.site.line): \(describe(error, owner))")
    }
    keep(memory, now)
  }

  /// Looks up a required dependency of an object that has just been attached. If there is none, or if its factory
  /// throws, reports that.
  func fill(_ attachment: UDIAttachment, of owner: AnyObject, at site: UDICallSite?) {
    // If the object was attached elsewhere than where its property may be used, the first read looks it up.
    if request.reach == .mainActor, !MainActorCheck.isOnMainActor { return }
    func fill<Dependency>(_ type: Dependency.Type) {
      var found: Dependency?
      unsafe withUnsafeMutablePointer(to: &found) {
        let (memory, now) = unsafe (InstanceMemory($0), attachment.stamp)
        if write(now, to: memory) { return }
        do {
          try look(attachment, of: owner, into: memory)
          keep(memory, as: type, now)
        } catch {
          forget(before: now)
          // What is missing no longer matters if the factory has attached the object elsewhere.
          if attachment.stamp != now { return }
          UDIReporter.current.report(.needNotMet, describe(error, owner), at: site ?? request.site)
        }
      }
    }
    _openExistential(request.type, do: fill)
  }

  private func look(_ attachment: UDIAttachment, of owner: AnyObject, into memory: InstanceMemory) throws {
    try unsafe attachment.findOrThrow(
      request.type, request.reach, named: request.name, search: request.search, at: request.site, for: owner,
      into: memory.address)
  }

  private func describe(_ error: any Error, _ owner: AnyObject) -> String {
    if let missing = error as? UDILinkError { return "\(missing.asked(by: name(in: owner)))" }
    return "\(Swift.type(of: owner)) needs \(request.keyText), whose factory threw: \(error)"
  }

  /// Stops the program, even in release builds, if the dependency is not `Sendable` and this code is not on the main
  /// actor. The compiler does not check on which actor a property with a wrapper is used.
  @inline(__always)
  private func checkIsolation(of owner: AnyObject) { if request.reach == .mainActor { stopElsewhere(owner) } }

  @inline(never)
  private func stopElsewhere(_ owner: AnyObject) {
    let site = request.site
    _ = MainActorCheck.isIsolated(request.type, "\(site.fileID):\(site.line): property of \(Swift.type(of: owner)): ")
  }

  /// Writes what is kept, if it is up to date.
  ///
  /// - Parameter now: The attachment's `stamp`.
  /// - Returns: Whether there was something to write.
  private func write(_ now: UInt, to memory: InstanceMemory) -> Bool {
    begin()
    guard stamp >= now else {
      end()
      return false
    }
    // The usual case is written out, so that the object is retained only once.
    if let object = kept?.object, let form = kept?.form, form.isComplete {
      unsafe form.write(object, to: memory.address)
      end()
      return true
    }
    let kept = kept
    end()
    if let kept { return memory.write(kept, isExact: true, as: request.type) }
    return unsafe weaklyKept?.load(as: request.type, into: memory.address) ?? false
  }

  // MARK: - Keeping

  /// Sets a value, or nil.
  @usableFromInline
  func set<Dependency>(_ value: Dependency?, of owner: AnyObject) {
    checkIsolation(of: owner)
    replace(with: value.map { Instance($0) }, Self.pinned)
  }

  /// Keeps what was looked up.
  ///
  /// - Parameters:
  ///   - memory: Contains what was looked up. Afterwards, contains what the read gives.
  ///   - now: The attachment's `stamp` before the lookup.
  private func keep(_ memory: InstanceMemory, _ now: UInt) {
    func keep<Dependency>(_ type: Dependency.Type) { self.keep(memory, as: type, now) }
    _openExistential(request.type, do: keep)
  }

  private func keep<Dependency>(_ memory: InstanceMemory, as type: Dependency.Type, _ now: UInt) {
    let found = unsafe memory.address.assumingMemoryBound(to: Dependency?.self)
    // During the lookup, the property might have been set or read, or its object attached elsewhere, for example by a
    // factory. A value that the property got in this way stays.
    var known: Dependency?
    let isKnown = unsafe withUnsafeMutablePointer(to: &known) {
      let memory = unsafe InstanceMemory($0)
      if keeping == .weakly, write(now, to: memory) { return true }
      return unsafe !replace(with: found.pointee.map { Instance($0) }, now, unlessKept: true)
        && write(now, to: memory)
    }
    if isKnown { unsafe found.pointee = known }
  }

  /// - Parameter unlessKept: Whether a value stays that is kept already and is up to date.
  /// - Returns: Whether the value was replaced.
  @discardableResult
  private func replace(with value: Instance?, _ stamp: UInt, unlessKept: Bool = false) -> Bool {
    begin()
    if unlessKept, self.stamp >= stamp, kept != nil {
      end()
      return false
    }
    // The old value is released when everything has been written, because its `deinit` might use the property.
    let old = kept
    defer { withExtendedLifetime(old) {} }
    self.stamp = stamp
    kept = keeping == .weakly ? nil : value
    end()
    guard keeping == .weakly else { return true }
    if let value, value.isBox {
      fatalError("\(describeType(type(of: value.anyValue))) is not a class, so a property cannot keep it weakly")
    }
    weaklyKept = value.map { WeakEntry($0.form) }
    withExtendedLifetime(value) {}
    return true
  }

  /// Releases what was looked up under an earlier stamp, if this code runs where the property may be used.
  func forget(before now: UInt) {
    if request.reach == .mainActor, !MainActorCheck.isOnMainActor { return }
    begin()
    let old = stamp < now ? kept : nil
    if stamp < now { kept = nil }
    end()
    withExtendedLifetime(old) {}
  }
}
