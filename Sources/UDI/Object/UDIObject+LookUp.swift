/// How the typed verbs of objects call the untyped core.
///
/// The memory that is passed here always belongs to an optional in a verb, and is used only during the verb's call.
/// `UDIContext+LookUp.swift` says why code that does not know the optional's type can write to it.
extension UDIObject {
  @inlinable
  func store<Dependency>(
    _ found: Dependency?, in property: ReferenceWritableKeyPath<Self, Dependency?>
  ) -> Bool {
    // The old value is kept alive until the write is over, because its `deinit` might use the property.
    let old = self[keyPath: property]
    self[keyPath: property] = found
    withExtendedLifetime(old) {}
    return found != nil
  }
}

extension UDIAttachment {
  /// Looks up a dependency for the object.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If nothing is found, the memory is
  ///   not changed.
  @inlinable
  @inline(__always)
  func find(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) {
    // This function is inlined, so callers that give no name, which are most, call the `find` without that parameter.
    guard let name else { return unsafe find(type, reach, search, site, owner, into: memory) }
    unsafe find(type, named: name, reach, search, site, owner, into: memory)
  }

  @usableFromInline
  func find(
    _ type: Any.Type, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite, _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) {
    unsafe look(type, nil, reach, search, site, owner, into: memory)
  }

  @usableFromInline
  func find(
    _ type: Any.Type, named name: UDIName, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) {
    unsafe look(type, name, reach, search, site, owner, into: memory)
  }

  @inline(__always)
  private func look(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) {
    let (answer, context) = unsafe attempt(type, name, reach, search, into: memory)
    if case .written = answer { return }
    unsafe finish(answer, context, type, name, reach, search, Asker(owner, site), into: memory)
  }

  @usableFromInline
  func findPresent(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) {
    _ = unsafe attempt(type, name, reach, search, into: memory)
  }

  /// Looks up a dependency, and throws if there is none.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. Unless this function throws, the
  ///   memory contains the dependency afterwards.
  /// - Throws: `UDILinkError`, or the error that a factory throws.
  @usableFromInline
  func findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) throws {
    let (answer, context) = unsafe attempt(type, name, reach, search, into: memory)
    if case .written = answer { return }
    try unsafe finishOrThrow(answer, context, type, name, reach, search, Asker(owner, site), into: memory)
  }

  @inline(__always)
  private func attempt(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> (LookupAnswer, UDIContext?) {
    let token = TypeToken.of(type)
    let id = KeyIdentity.id(token.id, name)
    return attempt { unsafe $0.attempt(id, LookupForm(token, reach), search, into: memory) }
  }

  /// Performs a lookup that begins at the node of the attached context. The context is not retained: the attachment
  /// holds it, and cannot release it while the lock is held.
  ///
  /// Not retaining it saves 150 of 505 instructions in the benchmark "object.linkInLine". Retaining would be slow,
  /// because there are weak references to a context that has providers, and an object with weak references is slow to
  /// retain.
  ///
  /// - Parameter attempt: The lookup. It must not run user code.
  /// - Returns: The answer, and also the context if the answer is `provided`. The answer is `undecided` if the object
  ///   holds no context.
  @inline(__always)
  private func attempt(_ attempt: (Node) -> LookupAnswer) -> (LookupAnswer, UDIContext?) {
    lock.lock()
    guard let node = unsafe attachedNode else {
      lock.unlock()
      return (.undecided, nil)
    }
    let answer = attempt(node)
    // The caller needs the context to make the instance, after the lock has been released.
    let context: UDIContext? = if case .provided = answer { unsafe attached } else { nil }
    lock.unlock()
    return (answer, context)
  }

  /// Finishes a lookup whose answer has not been written to the memory.
  ///
  /// - Parameter context: The attached context, if the answer is an entry that has to make the instance.
  @inline(never)
  private func finish(
    _ answer: consuming LookupAnswer, _ context: UDIContext?, _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach,
    _ search: UDISearch?, _ asker: Asker, into memory: UnsafeMutableRawPointer
  ) {
    if let context { return unsafe context.finish(answer, type, name, reach, search, asker, into: memory) }
    switch consume answer {
    case .written: break
    case .nothing: if UDIObserver.mayExist { self.context?.tellMiss(type, name, isRequired: false) }
    case .object(let object): _ = unsafe InstanceMemory(memory).write(object, as: type)
    case .provided, .undecided:
      guard let context = contextForLink("link", isRequired: false, type, name, asker.site, asker.object) else {
        return
      }
      unsafe context.find(type, name, reach, search, asker, into: memory)
    }
  }

  /// Finishes a lookup for `require` whose answer has not been written to the memory.
  @inline(never)
  private func finishOrThrow(
    _ answer: consuming LookupAnswer, _ context: UDIContext?, _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach,
    _ search: UDISearch?, _ asker: Asker, into memory: UnsafeMutableRawPointer
  ) throws {
    // If the cast fails, the lookup is repeated below, and the repetition throws the right error.
    if case .object(let object) = answer, unsafe InstanceMemory(memory).write(object, as: type) { return }
    do {
      if let context { return try unsafe context.finishOrThrow(answer, type, name, reach, search, asker, into: memory) }
    } catch { throw explained(error, asker) }
    guard let context = contextForLink("require", isRequired: true, type, name, asker.site, asker.object) else {
      throw goneError(type, name, search, asker)
    }
    do { try unsafe context.findOrThrow(type, name, reach, search, asker, into: memory) } catch {
      throw explained(error, asker)
    }
  }
}
