/// How the typed verbs call the untyped core and get typed results.
extension UDIContext {
  // Clients should stay small, so a client's module compiles only one call per type. The call passes a pointer to the
  // optional result, and the library writes its answer there. This works because an optional of a class or protocol
  // type has the same layout as the type itself, with a null reference for nil (Type Layout, "Single-Payload Enums", in
  // the Swift repository: docs/ABI/TypeLayout.rst). Only values of such types are written this way. Writing the value
  // elsewhere and moving it into the optional would cost as much as the lookup's lock.

  /// Performs the lookup for `link`. If the dependency cannot be made, reports why.
  @inlinable
  @inline(__always)
  func lookUp<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    reach.assertIsolation(type)
    var found: Dependency?
    unsafe find(type, name, reach, search, in: &found)
    return found
  }

  /// Performs the lookup for `require`.
  @inlinable
  @inline(__always)
  func lookUpOrThrow<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) throws -> Dependency {
    reach.assertIsolation(type)
    var found: Dependency?
    try unsafe findOrThrow(type, name, reach, search, in: &found)
    // If nothing was found, the call above has thrown, so there is a value. A check here would make clients take 3 %
    // longer to compile.
    return unsafe found.unsafelyUnwrapped
  }

  // The next two functions only erase the type of the pointer. They take less time to compile than closures that are
  // given the pointer.

  @inlinable
  @inline(__always)
  func find<Dependency>(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    in found: UnsafeMutablePointer<Dependency?>
  ) {
    unsafe find(type, name, reach, search, into: UnsafeMutableRawPointer(found))
  }

  @inlinable
  @inline(__always)
  func findOrThrow<Dependency>(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    in found: UnsafeMutablePointer<Dependency?>
  ) throws {
    try unsafe findOrThrow(type, name, reach, search, into: UnsafeMutableRawPointer(found))
  }

  /// Looks up a dependency.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If nothing is found, it is not
  ///   changed.
  @inlinable
  @inline(__always)
  func find(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) {
    // There are two functions, so that most callers need not pass a name, which makes the benchmark "link, bound there"
    // faster.
    guard let name else { return unsafe find(type, reach, search, into: memory) }
    unsafe find(type, named: name, reach, search, into: memory)
  }

  @usableFromInline
  func find(_ type: Any.Type, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer) {
    let answer = withNode { unsafe $0.answer(.of(type), reach, search, into: memory) }
    if case .written = answer { return }
    unsafe finishNameless(answer, type, reach, search, into: memory)
  }

  @usableFromInline
  func find(
    _ type: Any.Type, named name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) {
    let answer = unsafe answer(type, named: name, reach, search, into: memory)
    if case .written = answer { return }
    unsafe finish(answer, type, name, reach, search, nil, into: memory)
  }

  /// Looks up a dependency for an object.
  ///
  /// - Parameter asker: The object, to be named in a report.
  func find(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ asker: Asker,
    into memory: UnsafeMutableRawPointer
  ) {
    let answer = unsafe answer(type, name, reach, search, into: memory)
    if case .written = answer { return }
    unsafe finish(answer, type, name, reach, search, asker, into: memory)
  }

  /// Looks up a dependency, and throws if there is none.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If this function does not throw,
  ///   the memory contains the dependency afterwards.
  /// - Throws: `UDILinkError`, or the error that a factory throws.
  @usableFromInline
  func findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) throws {
    let answer = unsafe answer(type, name, reach, search, into: memory)
    if case .written = answer { return }
    try unsafe finishOrThrow(answer, type, name, reach, search, into: memory)
  }

  /// Looks up a dependency for an object, and throws if there is none.
  func findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ asker: Asker,
    into memory: UnsafeMutableRawPointer
  ) throws {
    var answer = unsafe answer(type, name, reach, search, into: memory)
    if case .setUpPending = answer {
      answer = unsafe answerAfterSetUp(type, name, reach, search, asker, into: InstanceMemory(memory))
    }
    if case .written = answer { return }
    try unsafe finishOrThrow(answer, type, name, reach, search, into: memory)
  }

  /// Performs a lookup that finds only a dependency that exists already and need not be cast.
  @inlinable
  @inline(__always)
  func present<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &found) {
      unsafe findPresent(type, name, reach, search, into: UnsafeMutableRawPointer($0))
    }
    return found
  }

  @usableFromInline
  func findPresent(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) {
    _ = unsafe answer(type, name, reach, search, into: memory)
  }

  /// Runs the set-up blocks that have to run first, then performs the lookup.
  func answer(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    afterSetUpInto memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let answer = unsafe answer(type, name, reach, search, into: memory)
    guard case .setUpPending = answer else { return answer }
    return unsafe answerAfterSetUp(type, name, reach, search, nil, into: InstanceMemory(memory))
  }

  @inline(__always)
  private func answer(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    if let name { return unsafe answer(type, named: name, reach, search, into: memory) }
    return withNode { unsafe $0.answer(.of(type), reach, search, into: memory) }
  }

  /// Finishes a lookup without a name. A lookup that has found nothing ends here: if it got as far as `finish`, the
  /// benchmark "miss, one context" would take a fifth more instructions.
  @inline(never)
  private func finishNameless(
    _ answer: consuming LookupAnswer, _ type: Any.Type, _ reach: Reach, _ search: UDISearch?,
    into memory: UnsafeMutableRawPointer
  ) {
    if case .nothing = answer, !UDIObserver.mayExist { return }
    unsafe finish(answer, type, nil, reach, search, nil, into: memory)
  }

  /// Finishes a lookup for `link` whose answer has not been written to the memory.
  @inline(never)
  func finish(
    _ answer: consuming LookupAnswer, _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    _ asker: Asker?, into memory: UnsafeMutableRawPointer
  ) {
    let memory = unsafe InstanceMemory(memory)
    // Set-up blocks are handled in a separate function. If this function handled them itself, it would have to
    // save more registers.
    if case .setUpPending = answer { return finishAfterSetUp(type, name, reach, search, asker, into: memory) }
    switch consume answer {
    case .object(let object): _ = memory.write(object, as: type)
    case .provided(let entry):
      do { _ = try provide(entry, type, reach, search, only: false, into: memory) } catch {
        report(error, entry, type, search, asker)
        if UDIObserver.mayExist { tellMiss(type, name, isRequired: false, error) }
      }
    case .nothing, .dead: if UDIObserver.mayExist { tellMiss(type, name, isRequired: false) }
    case .written, .setUpPending: break
    }
  }

  @inline(never)
  private func finishAfterSetUp(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ asker: Asker?,
    into memory: InstanceMemory
  ) {
    let answer = answerAfterSetUp(type, name, reach, search, asker, into: memory)
    unsafe finish(answer, type, name, reach, search, asker, into: memory.address)
  }

  /// Finishes a lookup for `require` whose answer has not been written to the memory.
  @inline(never)
  func finishOrThrow(
    _ answer: consuming LookupAnswer, _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?,
    into memory: UnsafeMutableRawPointer
  ) throws {
    let memory = unsafe InstanceMemory(memory)
    if case .setUpPending = answer { answer = answerAfterSetUp(type, name, reach, search, nil, into: memory) }
    let isThere: Bool
    switch consume answer {
    case .written: isThere = true
    case .object(let object): isThere = memory.write(object, as: type)
    case .provided(let entry):
      do { isThere = try provide(entry, type, reach, search, only: false, into: memory) } catch {
        throw explained(error, type, name, reach, search)
      }
    case .nothing, .dead, .setUpPending: isThere = false
    }
    if !isThere { throw explained(ProviderFailure.nothing, type, name, reach, search) }
  }

  /// Runs the set-up blocks that have to run first, then performs the lookup. Records it if recording is on.
  ///
  /// - Parameter asker: The object that looks something up; nil if the caller is not an object.
  @inline(never)
  private func answerAfterSetUp(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ asker: Asker?,
    into memory: InstanceMemory
  ) -> LookupAnswer {
    let token = TypeToken.of(type)
    let id = KeyIdentity.id(token.id, name)
    let dependent = presentDependent(asker)
    return withNode {
      unsafe $0.answerAfterSetUp(
        { id }, LookupForm(token, reach), search, self, for: dependent, into: memory.address)
    }
  }

  private func answer(
    _ type: Any.Type, named name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    withNode { unsafe $0.answer(type, named: name, reach, search, into: memory) }
  }

  @usableFromInline
  func lookUpAll<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, ofAnyName: Bool
  ) -> [Dependency] {
    reach.assertIsolation(type)
    let found = allDependencies(type, name, reach, search, ofAnyName: ofAnyName)
    if found.count == 0 { return [] }
    return unsafe Array(unsafeUninitializedCapacity: found.count) { buffer, count in
      for _ in 0..<found.count {
        let place = unsafe buffer.baseAddress.unsafelyUnwrapped + count
        let dependency: Dependency?
        switch unsafe found.next(into: UnsafeMutableRawPointer(place)) {
        case .written:
          count += 1
          continue
        case .object(let object): dependency = object as? Dependency
        case .provided(let entry): dependency = give(entry, type, reach, search)
        case .nothing, .dead, .setUpPending: dependency = nil
        }
        guard let dependency else { continue }
        unsafe place.initialize(to: dependency)
        count += 1
      }
    }
  }

  private func allDependencies(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, ofAnyName: Bool
  ) -> FoundDependencies {
    withNode { $0.allDependencies(type, name, reach, search, ofAnyName: ofAnyName, from: self) }
  }
}

// MARK: - From an entry to an instance

extension UDIContext {
  /// Returns the instance of an entry that a lookup has found. If the instance cannot be made, reports why.
  func lookUp<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    take(entry, type, reach, search, only: false)
  }

  /// Returns the instance of exactly this entry; nil if the entry has been removed in the meantime.
  func give<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    take(entry, type, reach, search, only: true)
  }

  private func take<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool
  ) -> Dependency? {
    var found: Dependency?
    do {
      _ = try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe provide(entry, type, reach, search, only: isOnly, into: InstanceMemory($0))
      }
    } catch { report(error, entry, type, search) }
    return found
  }

  /// Gets the instance of an entry that a lookup has found, and writes it to memory.
  ///
  /// - Parameter isOnly: Whether the instance has to come from exactly this entry. If not, and the entry has been
  ///   removed in the meantime, the lookup begins again.
  /// - Returns: Whether there is an instance.
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  @inline(__always)
  private func provide(
    _ entry: Entry, _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool,
    into memory: InstanceMemory
  ) throws -> Bool {
    if try entry.makeQuickly(for: self, type, reach, into: memory) { return true }
    return try provideAtLength(entry, type, reach, search, only: isOnly, into: memory)
  }

  /// Gets the instance of an entry of any kind, including those that `makeQuickly` cannot handle.
  private func provideAtLength(
    _ entry: Entry, _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool,
    into memory: InstanceMemory
  ) throws -> Bool {
    if let instance = try entry.obtain(self, nil, isFresh: false) {
      return memory.write(instance, isExact: entry.makes(type), as: type)
    }
    // The entry has been removed in the meantime.
    if isOnly { throw ProviderFailure.nothing }
    try provide(type, entry.name, reach, search, nil, isFresh: false, reports: false, nil, into: memory)
    return true
  }
}

/// Whether the object is an instance of the given type, which is known only at run time.
func isInstance(_ type: Any.Type, _ object: AnyObject) -> Bool {
  func isOne<Wanted>(_: Wanted.Type) -> Bool { object is Wanted }
  return _openExistential(type, do: isOne)
}
