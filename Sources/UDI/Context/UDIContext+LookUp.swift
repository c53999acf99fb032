/// From the typed verbs to the untyped core, and back: shells that are compiled in the caller's module.
extension UDIContext {
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
    case .object(let object): return object as? Dependency
    case .provided(let entry): return lookUp(entry, type, reach, search, asker)
    // Nil where nothing was written.
    case .written, .nothing, .dead, .asleep: return found
    }
  }

  /// Looks up for `require`.
  @inlinable
  @inline(__always)
  func lookUpOrThrow<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) throws -> Dependency {
    reach.assertIsolation(type)
    var found: Dependency?
    let answer = unsafe look(for: &found, type, name, reach, search)
    if let found { return found }
    return try lookUpOrThrowAtLength(answer, type, name, reach, search)
  }

  /// Goes on where no live instance was found that is of the very type.
  @usableFromInline
  @inline(never)
  func lookUpOrThrowAtLength<Dependency>(
    _ answer: LookupAnswer, _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) throws -> Dependency {
    var found: Dependency?
    switch answer {
    case .object(let object): found = object as? Dependency
    case .provided(let entry):
      do {
        found = try provide(entry, type, reach, search, only: false)
      } catch { throw explained(error, type, name, reach, search) { $0 is Dependency } }
    case .written, .nothing, .dead, .asleep: break
    }
    guard let found else { throw linkError(type, name, reach, search) { $0 is Dependency } }
    return found
  }

  /// Gives a lookup memory for the dependency.
  ///
  /// Compiled in the caller's module, where the type is known: a cast, where one is needed at all, is then specialised.
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
  /// Gets an instance from an entry that a lookup has found; why there is none goes to the reporter.
  // Out of line, which keeps the way short where nothing is to be made; and handed over, so that it is let go of without asking
  // once more which answer it was.
  @usableFromInline
  @inline(never)
  func lookUp<Dependency>(
    _ entry: consuming Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?, _ asker: Asker? = nil
  ) -> Dependency? {
    let entry = entry
    do { return try provide(entry, type, reach, search, only: false) } catch {
      report(error, entry, type, search, asker)
      return nil
    }
  }

  /// The same from this very entry: nil if that is gone meanwhile.
  @usableFromInline
  @inline(never)
  func give<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    do { return try provide(entry, type, reach, search, only: true) } catch {
      report(error, entry, type, search)
      return nil
    }
  }

  /// Gets an instance from an entry that a lookup has found.
  ///
  /// - Parameter isOnly: Whether it has to be from this very entry: else, where that is gone meanwhile, the lookup begins again.
  /// - Throws: `ProviderFailure`, or what a factory throws.
  func provide<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool
  ) throws -> Dependency? {
    guard let resolution = try entry.beginQuick(self, of: type, reach) else {
      return try provideAtLength(entry, type, reach, search, only: isOnly)
    }
    let provider = unsafe unsafeDowncast(entry, to: Factory<Dependency>.self)
    let found: Dependency?
    do { found = try provider.factory(self) } catch { throw provider.failQuick(resolution, error) }
    guard let found else { throw provider.failQuick(resolution, Provider.returnedNil) }
    let isDone = unsafe withUnsafePointer(to: found) {
      unsafe provider.endAtOnce(resolution, UnsafeRawPointer($0), size: MemoryLayout<Dependency>.size)
    }
    if !isDone { endQuick(provider, resolution, found) }
    return found
  }

  // What follows is out of line, so that what is mostly done is short.

  @usableFromInline
  @inline(never)
  func endQuick<Dependency>(
    _ provider: Factory<Dependency>, _ resolution: Unretained<Resolution>, _ found: Dependency
  ) {
    if let form = StoredForm.of(found, as: Dependency.self), form.isComplete {
      provider.endQuick(self, resolution, form)
    } else {
      provider.endQuick(self, resolution, Made(found))
    }
  }

  /// Gets an instance from an entry of any kind.
  @usableFromInline
  @inline(never)
  func provideAtLength<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool
  ) throws -> Dependency? {
    guard entry.isFactory(of: type) else {
      guard let made = try entry.obtain(self, [], isFresh: false) else {
        return try lookUpAgain(entry, type, reach, search, only: isOnly)
      }
      return made.value(as: type, isExact: entry.makes(type))
    }
    let provider = unsafe unsafeDowncast(entry, to: Factory<Dependency>.self)
    switch try provider.begin(self, [], isFresh: false) {
    case .found(let made): return made.value(as: type, isExact: true)
    case .gone: return try lookUpAgain(entry, type, reach, search, only: isOnly)
    case .make(let making):
      let dependency: Dependency?
      do { dependency = try provider.factory(making.context) } catch { throw provider.fail(making, error) }
      guard let dependency else { throw provider.fail(making, Provider.returnedNil) }
      provider.end(making, Made(dependency), [], isFresh: false)
      return dependency
    }
  }

  /// Goes on where an entry that a lookup has found is gone meanwhile.
  @usableFromInline
  @inline(never)
  func lookUpAgain<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: Reach, _ search: UDISearch?, only isOnly: Bool
  ) throws -> Dependency? {
    if isOnly { throw Provider.nothing }
    let (found, isExact) = try provide(type, entry.name, reach, search, [], isFresh: false, reports: false)
    return found.value(as: type, isExact: isExact)
  }
}
