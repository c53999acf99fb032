/// From the typed verbs to the untyped core, and back.
extension UDIContext {
  // Only what a hit needs is compiled in the caller's module, for each type anew; and `lookUpAll`, which writes into an array of the type. All else is
  // compiled once, here, for any type.

  /// Looks up for `link`: why nothing was made, where something could have been, goes to the reporter.
  ///
  /// - Parameter asker: The object that looks it up, if one does, for the report.
  @inlinable
  @inline(__always)
  func lookUp<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ asker: Asker? = nil
  ) -> Dependency? {
    reach.assertIsolation(type)
    var found: Dependency?
    switch unsafe look(for: &found, type, name, reach, search) {
    case .object(let object): return cast(object, to: type)
    case .provided(let entry):
      unsafe withUnsafeMutablePointer(to: &found) {
        unsafe lookUp(
          entry, type, reach, search, asker, size: MemoryLayout<Dependency>.size, into: InstanceMemory($0))
      }
    // Nil where nothing was written.
    case .written, .nothing, .dead, .asleep: break
    }
    return found
  }

  /// Looks up for `require`.
  @inlinable
  @inline(__always)
  func lookUpOrThrow<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) throws -> Dependency {
    reach.assertIsolation(type)
    var found: Dependency?
    switch unsafe look(for: &found, type, name, reach, search) {
    case .object(let object): found = cast(object, to: type)
    case .provided(let entry):
      try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe lookUpOrThrow(
          entry, type, name, reach, search, size: MemoryLayout<Dependency>.size, into: InstanceMemory($0))
      }
    case .written, .nothing, .dead, .asleep: break
    }
    if let found { return found }
    throw missing(type, name, reach, search)
  }

  @usableFromInline
  @inline(never)
  func cast<Dependency>(_ object: AnyObject, to type: Dependency.Type) -> Dependency? { object as? Dependency }

  @usableFromInline
  @inline(never)
  func missing(_ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?) -> any Error {
    linkError(type, name, reach, search) { isInstance(type, $0) }
  }

  /// Gives a lookup memory for the dependency.
  ///
  /// Compiled in the caller's module, where the type is known, and so where the optional is.
  ///
  /// The answer is written where the optional is: an optional of a class or protocol type is laid out as the type itself, with nil in
  /// place of a null reference (Type Layout, "Single-Payload Enums", in the Swift repository: docs/ABI/TypeLayout.rst), and
  /// only values of such types are ever written. A value that is first moved into an optional costs as much as the lookup's lock.
  ///
  /// - Parameter found: Nil, so that nothing has to be destroyed before it is overwritten.
  @unsafe
  @inlinable
  @inline(__always)
  func look<Dependency>(
    for found: inout Dependency?, _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) -> LookupAnswer {
    unsafe withUnsafeMutablePointer(to: &found) { memory in
      guard let name else { return unsafe answer(type, reach, search, into: UnsafeMutableRawPointer(memory)) }
      return unsafe answer(type, named: name, reach, search, into: UnsafeMutableRawPointer(memory))
    }
  }

  @usableFromInline
  func answer(
    _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    withNode { node in
      let answer = unsafe node.answer(.of(type), reach, search, into: memory)
      guard case .asleep = answer else { return answer }
      return unsafe answerWaking(type, reach, search, into: memory)
    }
  }

  @inline(never)
  private func answerWaking(
    _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let token = TypeToken.of(type)
    return withNode { unsafe $0.answerWaking({ token.id }, LookupForm(token, reach), search, self, into: memory) }
  }

  @usableFromInline
  func answer(
    _ type: Any.Type, named name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    withNode { node in
      let answer = unsafe node.answer(type, named: name, reach, search, into: memory)
      guard case .asleep = answer else { return answer }
      let (identity, form) = (TypeIdentity.of(type), LookupForm(.of(type), reach))
      // Looked for each time: a set-up block may be the first to use the name. Held as long as its id is in use.
      var key: KeyIdentity?
      defer { withExtendedLifetime(key) {} }
      func id() -> UInt64? {
        key = KeyNames.identity(identity, name)
        return key?.id
      }
      return unsafe node.answerWaking(id, form, search, self, into: memory)
    }
  }

  @inlinable
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
        case .nothing, .dead, .asleep: dependency = nil
        }
        guard let dependency else { continue }
        unsafe place.initialize(to: dependency)
        count += 1
      }
    }
  }

  @usableFromInline
  func allDependencies(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, ofAnyName: Bool
  ) -> FoundDependencies {
    withNode { node in
      node.wake(self, search, for: nil)
      return node.allDependencies(type, name, reach, search, ofAnyName: ofAnyName)
    }
  }
}

// MARK: - From an entry to an instance

extension UDIContext {
  /// Gets an instance from an entry that a lookup has found, and writes it to memory; why there is none goes to the reporter.
  ///
  /// - Parameters:
  ///   - size: The size of the type.
  ///   - memory: Memory for an optional of the type, which holds nil.
  // The entry is handed over, so that it is let go of without asking once more which answer it was.
  @usableFromInline
  @inline(never)
  func lookUp(
    _ entry: consuming Entry, _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, _ asker: Asker?, size: Int,
    into memory: InstanceMemory
  ) {
    let entry = entry
    do { try provide(entry, type, reach, search, only: false, size: size, into: memory) } catch {
      report(error, entry, type, search, asker)
    }
  }

  /// The same for `require`.
  ///
  /// - Throws: `UDILinkError`, or what a factory throws.
  @usableFromInline
  @inline(never)
  func lookUpOrThrow(
    _ entry: consuming Entry, _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, size: Int,
    into memory: InstanceMemory
  ) throws {
    let entry = entry
    do { try provide(entry, type, reach, search, only: false, size: size, into: memory) } catch {
      throw explained(error, type, name, reach, search) { isInstance(type, $0) }
    }
  }

  /// Gets an instance from an entry that a lookup has found, where the type is not known when the library is compiled.
  func lookUp<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &found) {
      unsafe lookUp(
        entry, type, reach, search, nil, size: MemoryLayout<Dependency>.size, into: InstanceMemory($0))
    }
    return found
  }

  /// The same from this very entry: nil if that is gone meanwhile.
  @usableFromInline
  @inline(never)
  func give<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    var found: Dependency?
    do {
      try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe provide(
          entry, type, reach, search, only: true, size: MemoryLayout<Dependency>.size, into: InstanceMemory($0))
      }
    } catch { report(error, entry, type, search) }
    return found
  }

  /// Gets an instance from an entry that a lookup has found.
  ///
  /// - Parameter isOnly: Whether it has to be from this very entry: else, where that is gone meanwhile, the lookup begins again.
  /// - Throws: `ProviderFailure`, or what a factory throws.
  @inline(__always)
  private func provide(
    _ entry: Entry, _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool, size: Int,
    into memory: InstanceMemory
  ) throws {
    guard let resolution = try entry.beginQuick(self, of: type, reach) else {
      func atLength<Dependency>(_ type: Dependency.Type) throws {
        _ = memory.write(try provideAtLength(entry, type, reach, search, only: isOnly))
      }
      return try _openExistential(type, do: atLength)
    }
    let provider = unsafe unsafeDowncast(entry, to: Factory.self)
    let isThere: Bool
    do { isThere = try provider.write(self, memory) } catch { throw provider.failQuick(resolution, error) }
    guard isThere else { throw provider.failQuick(resolution, ProviderFailure.returnedNil) }
    if unsafe provider.endAtOnce(resolution, UnsafeRawPointer(memory.address), size: size) { return }
    func end<Dependency>(_ type: Dependency.Type) {
      if let found = memory.read(as: type) { endQuick(provider, resolution, found) }
    }
    _openExistential(type, do: end)
  }

  private func endQuick<Dependency>(
    _ provider: Factory, _ resolution: Unretained<Resolution>, _ found: Dependency
  ) {
    if let form = StoredForm.of(found, as: Dependency.self), form.isComplete {
      provider.endQuick(self, resolution, form)
    } else {
      provider.endQuick(self, resolution, Made(found))
    }
  }

  /// Gets an instance from an entry of any kind.
  private func provideAtLength<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool
  ) throws -> Dependency? {
    if let made = try entry.obtain(self, [], isFresh: false) {
      return made.value(as: type, isExact: entry.makes(type))
    }
    // It is gone meanwhile.
    if isOnly { throw ProviderFailure.nothing }
    let (found, isExact) = try provide(type, entry.name, reach, search, [], isFresh: false, reports: false)
    return found.value(as: type, isExact: isExact)
  }
}

/// Whether an object is an instance of a type that is only known when the program runs.
func isInstance(_ type: Any.Type, _ object: AnyObject) -> Bool {
  func isOne<Wanted>(_: Wanted.Type) -> Bool { object is Wanted }
  return _openExistential(type, do: isOne)
}
