/// How the typed verbs of objects call the untyped core: `link` and `require` without arguments. (Other lookups of
/// objects begin at `UDIOrigin`.)
///
/// The memory that is passed here always belongs to an optional in a verb, and is used only during the verb's call.
/// `UDILinking+Link.swift` says why code that does not know the optional's type can write to it.
extension ReferenceWritableKeyPath {
  /// Sets a property to what has been found for it, or to nil.
  ///
  /// - Returns: Whether something has been found.
  @_alwaysEmitIntoClient
  func store<Dependency>(_ found: Dependency?, in target: Root) -> Bool where Value == Dependency? {
    // The old value is kept alive until the write is over, because its `deinit` might use the property.
    let old = target[keyPath: self]
    target[keyPath: self] = found
    withExtendedLifetime(old) {}
    return found != nil
  }
}

extension UDIAttachment {
  /// Looks up a dependency for the object. For the library only.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If nothing is found, the memory is
  ///   not changed.
  public func _find(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite,
    for owner: AnyObject, into memory: UnsafeMutableRawPointer
  ) {
    let (answer, context) = unsafe attempt(type, reach, named: name, search: search, into: memory)
    if case .written = answer { return }
    try? unsafe finish(
      answer, in: context, of: type, reach, named: name, search: search, at: site, isRequired: false, for: owner,
      into: memory)
  }

  /// Looks up a dependency for the object, and throws if there is none. For the library only.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. Unless this function throws, the
  ///   memory contains the dependency afterwards.
  /// - Throws: `UDILinkError`, or the error that a factory throws.
  public func _findOrThrow(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite,
    for owner: AnyObject, into memory: UnsafeMutableRawPointer
  ) throws {
    let (answer, context) = unsafe attempt(type, reach, named: name, search: search, into: memory)
    if case .written = answer { return }
    try unsafe finish(
      answer, in: context, of: type, reach, named: name, search: search, at: site, isRequired: true, for: owner,
      into: memory)
  }

  /// Performs a lookup that begins at the node of the attached context. The context is not retained: the attachment
  /// holds it, and cannot release it while the lock is held.
  ///
  /// Not retaining it saves 150 of 505 instructions of a hit ("object" in `Benchmarks/instructions`). Many a root has a
  /// weak reference to it (`rootContext`), and an object with weak references is slow to retain.
  ///
  /// - Returns: The answer, and also the context if the answer is `provided`. It is `notBegun` if the object holds no
  ///   context strongly: it is attached to none, or it is owned, and so holds its context weakly.
  @inline(__always)
  func attempt(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> (LookupAnswer, UDIContext?) {
    let token = TypeToken.inlined(type)
    let key = token.keyID(named: name)
    lock.lock()
    guard let node = unsafe attachedNode else {
      lock.unlock()
      return (.notBegun, nil)
    }
    let answer = unsafe node.attempt(key, as: WantedType(token, reach), search: search, into: memory)
    // The caller needs the context to make the instance, after the lock has been released.
    let context: UDIContext? = if case .provided = answer { unsafe attached } else { nil }
    lock.unlock()
    return (answer, context)
  }

  /// Finishes a lookup whose answer has not been written to the memory.
  ///
  /// - Parameters:
  ///   - context: The attached context, if the answer is `provided`.
  ///   - isRequired: Whether this is the lookup of `require`.
  // The request is made here. If it were made before this function is called, a hit ("object" in
  // `Benchmarks/instructions`) would exceed its limit.
  @inline(never)
  private func finish(
    _ answer: consuming LookupAnswer, in context: consuming UDIContext?, of type: Any.Type, _ reach: UDIReach,
    named name: UDIName?, search: UDISearch?, at site: UDICallSite, isRequired: Bool, for owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) throws {
    if case .nothing = answer, !isRequired, !UDIObserver.mayExist { return }
    let request = LookupRequest(type, reach, named: name, search: search, at: site)
    let memory = unsafe InstanceMemory(address: memory)
    try find(request, consume answer, in: consume context, isRequired: isRequired, for: owner, into: memory)
  }

  /// Does the same for a request, with or without arguments. If there is no answer yet, the lookup begins here.
  ///
  /// - Parameters:
  ///   - context: The attached context, if the answer is `provided`.
  @inline(__always)
  func find(
    _ request: LookupRequest, _ answer: consuming LookupAnswer = .notBegun, in context: consuming UDIContext? = nil,
    with arguments: Arguments? = nil, isRequired: Bool, for owner: AnyObject, into memory: InstanceMemory
  ) throws {
    if context == nil { context = try self.context(for: nil, isRequired: isRequired, request, of: owner) }
    guard let context else { return }
    if case .notBegun = answer {
      let mustMake = arguments != nil || request.isFresh
      answer = mustMake ? context.attemptToMake(request, into: memory) : context.attempt(request, into: memory)
      if case .written = answer { return }
    }
    do {
      try context.finish(answer, request, with: arguments, isRequired: isRequired, for: owner, into: memory)
    } catch { throw UDIOrigin.object(self, owner).seen(error, at: request.site) }
  }
}
