import Synchronization

/// Verbs that link on behalf of an object: from its effective context. Each has two overloads, see
/// `UDIContext+Bind.swift`. Two forms of `require` infer the type from the place; one of them is disfavored, see
/// `UDIContext+Link.swift`.
extension UDIObject {
  /// Looks up a dependency and keeps it in a property: `link(\.clock)`. The property's type says what is looked up.
  ///
  /// Prefer this form to the one with `&`. That one holds exclusive access to the property during the whole call, so
  /// anything that touches the property meanwhile stops the process: the `deinit` of its old value, for example.
  ///
  /// - Parameters:
  ///   - property: An optional property of the object. It is set to what the lookup finds, or to nil.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: Whether the dependency was found.
  /// - Complexity: As ``UDIContext/link(_:named:search:)``.
  @inlinable
  @discardableResult
  public func link<Dependency: Sendable>(
    _ property: ReferenceWritableKeyPath<Self, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    store(lookUp(Dependency.self, name, .anywhere, search, CallSite(fileID, line)), in: property)
  }

  /// Looks up a dependency and keeps it in a variable: `link(&clock)`.
  ///
  /// This form is for actors, which cannot form the key path, and for local variables. Otherwise prefer
  /// `link(\.clock)`, whose documentation says why.
  ///
  /// - Parameters:
  ///   - property: Set to what the lookup finds, or to nil, but only after the lookup is over.
  ///   - name: The name the dependency is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: Whether the dependency was found.
  /// - Complexity: As ``UDIContext/link(_:named:search:)``.
  @inlinable
  @discardableResult
  public func link<Dependency: Sendable>(
    _ property: inout Dependency?, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    property = lookUp(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
    return property != nil
  }

  /// Looks up a dependency for immediate use: `linkInLine((any Clock).self)?.now`. Nothing is kept.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now; nil if there is nothing.
  /// - Complexity: As ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func linkInLine<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency that must be there.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or the error that its factory throws.
  /// - Complexity: As ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency that must be there, and infers its type from the place:
  /// `editor = try Editor(store: require())`.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or the error that its factory throws.
  /// - Complexity: As ``UDIContext/link(_:named:search:)``.
  @_disfavoredOverload
  @inlinable
  public func require<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency that must be there, for an optional place: the type looked up is the one inside the
  /// optional.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or the error that its factory throws.
  /// - Complexity: As ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up every live dependency of a type, under any name.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: What is bound, kept or made now, in search order; within a context, in the order of registration.
  /// - Complexity: As ``UDIContext/linkAll(_:search:)``.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, nil, .anywhere, search, ofAnyName: true, CallSite(fileID, line))
  }

  /// Looks up every live dependency of a type with one name; if the name is nil, those without a name.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - name: Their name, or nil for those without one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: What is bound, kept or made now, in search order; at most one from each context.
  /// - Complexity: As ``UDIContext/linkAll(_:search:)``.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, name, .anywhere, search, ofAnyName: false, CallSite(fileID, line))
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIObject {
  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func link<Dependency>(
    _ property: ReferenceWritableKeyPath<Self, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    store(lookUp(Dependency.self, name, .mainActor, search, CallSite(fileID, line)), in: property)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func link<Dependency>(
    _ property: inout Dependency?, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    property = lookUp(Dependency.self, name, .mainActor, search, CallSite(fileID, line))
    return property != nil
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``linkInLine(_:named:search:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  public func linkInLine<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, CallSite(fileID, line))
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(_:named:search:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search, CallSite(fileID, line))
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(named:search:fileID:line:)``.
  @_disfavoredOverload
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search, CallSite(fileID, line))
  }

  /// The same for a type that is not `Sendable` and for an optional place, on the main actor; see
  /// ``require(named:search:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search, CallSite(fileID, line))
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``linkAll(_:search:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, nil, .mainActor, search, ofAnyName: true, CallSite(fileID, line))
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``linkAll(_:named:search:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, name, .mainActor, search, ofAnyName: false, CallSite(fileID, line))
  }
}

// MARK: - Where link was meant to be linkInLine

/// On objects, the verb that returns a dependency is `linkInLine`, and `link` keeps it in a property.
extension UDIObject {
  /// Unavailable: objects have `linkInLine`.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also with arguments.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also for a fresh instance.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also for a fresh instance with arguments.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also by key.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? { nil }
}

// MARK: - From typed verbs to the untyped core

extension UDIObject {
  @inlinable
  @inline(__always)
  func lookUp<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ site: CallSite
  ) -> Dependency? {
    reach.assertIsolation(type)
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &found) {
      unsafe _attachedContext.find(type, name, reach, search, site, self, into: UnsafeMutableRawPointer($0))
    }
    return found
  }

  @inlinable
  func store<Dependency>(
    _ found: Dependency?, in property: ReferenceWritableKeyPath<Self, Dependency?>
  ) -> Bool {
    // This keeps the old value alive until the write is over, because its `deinit` may touch the property.
    let old = self[keyPath: property]
    self[keyPath: property] = found
    withExtendedLifetime(old) {}
    return found != nil
  }

  @inlinable
  func lookUpAll<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, ofAnyName: Bool, _ site: CallSite
  ) -> [Dependency] {
    _attachedContext.contextForLink("linkAll", type, name, site, self)?
      .lookUpAll(type, name, reach, search, ofAnyName: ofAnyName) ?? []
  }

  @inlinable
  func lookUpOrThrow<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ site: CallSite
  ) throws -> Dependency {
    reach.assertIsolation(type)
    var found: Dependency?
    try unsafe withUnsafeMutablePointer(to: &found) {
      try unsafe _attachedContext.findOrThrow(
        type, name, reach, search, site, self, into: UnsafeMutableRawPointer($0))
    }
    return found!
  }
}

extension UDIAttachment {
  /// Looks up a dependency for the object.
  ///
  /// - Parameter memory: Memory with an optional of the type, which is nil, and stays nil if nothing is found.
  @inlinable
  @inline(__always)
  func find(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ site: CallSite, _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) {
    // There are two functions, as for a context.
    guard let name else { return unsafe find(type, reach, search, site, owner, into: memory) }
    unsafe find(type, named: name, reach, search, site, owner, into: memory)
  }

  @usableFromInline
  func find(
    _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, _ site: CallSite, _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) {
    let (answer, context) = unsafe attempt(type, nil, reach, search, into: memory)
    if case .written = answer { return }
    unsafe finish(answer, context, type, nil, reach, search, Asker(owner, site), into: memory)
  }

  @usableFromInline
  func find(
    _ type: Any.Type, named name: UDIName, _ reach: Reach, _ search: UDISearch?, _ site: CallSite, _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) {
    let (answer, context) = unsafe attempt(type, name, reach, search, into: memory)
    if case .written = answer { return }
    unsafe finish(answer, context, type, name, reach, search, Asker(owner, site), into: memory)
  }

  /// Looks up a dependency that must be there.
  ///
  /// - Parameter memory: Memory with an optional of the type, which is nil. If this does not throw, it holds the
  ///   dependency afterwards.
  /// - Throws: `UDILinkError`, or what a factory throws.
  @usableFromInline
  func findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ site: CallSite, _ owner: AnyObject,
    into memory: UnsafeMutableRawPointer
  ) throws {
    let (answer, context) = unsafe attempt(type, name, reach, search, into: memory)
    if case .written = answer { return }
    try unsafe finishOrThrow(answer, context, type, name, reach, search, Asker(owner, site), into: memory)
  }

  @inline(__always)
  private func attempt(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> (LookupAnswer, UDIContext?) {
    let token = TypeToken.of(type)
    if let name { return attempt { unsafe $0.attempt(token, named: name, reach, search, into: memory) } }
    return attempt { unsafe $0.attempt(KnownKey(id: token.id), LookupForm(token, reach), search, into: memory) }
  }

  /// Completes a lookup after an attempt that has not written what it found.
  ///
  /// - Parameter context: The attached context, if there is an entry that has to make the instance.
  @inline(never)
  private func finish(
    _ answer: consuming LookupAnswer, _ context: UDIContext?, _ type: Any.Type, _ name: UDIName?, _ reach: Reach,
    _ search: UDISearch?, _ asker: Asker, into memory: UnsafeMutableRawPointer
  ) {
    if let context { return unsafe context.finish(answer, type, name, reach, search, asker, into: memory) }
    switch consume answer {
    case .written, .nothing: break
    case .object(let object): _ = unsafe InstanceMemory(memory).write(object, as: type)
    case .provided, .dead, .setUpPending:
      guard let context = contextForLink("link", type, name, asker.site, asker.object) else { return }
      unsafe context.find(type, name, reach, search, asker, into: memory)
    }
  }

  /// The same for `require`.
  @inline(never)
  private func finishOrThrow(
    _ answer: consuming LookupAnswer, _ context: UDIContext?, _ type: Any.Type, _ name: UDIName?, _ reach: Reach,
    _ search: UDISearch?, _ asker: Asker, into memory: UnsafeMutableRawPointer
  ) throws {
    // If the object does not conform to the type after all, it is looked up again, for the error.
    if case .object(let object) = answer, unsafe InstanceMemory(memory).write(object, as: type) { return }
    do {
      if let context { return try unsafe context.finishOrThrow(answer, type, name, reach, search, into: memory) }
    } catch { throw explained(error, asker) }
    guard let context = contextForLink("require", type, name, asker.site, asker.object) else {
      throw goneError(type, name, search, asker)
    }
    do { try unsafe context.findOrThrow(type, name, reach, search, into: memory) } catch {
      throw explained(error, asker)
    }
  }

  /// The effective context. This reports if the object is attached to nothing, or if its context is gone.
  @usableFromInline
  func contextForLink(
    _ verb: String, _ type: Any.Type, _ name: UDIName?, _ site: CallSite, _ owner: AnyObject
  ) -> UDIContext? {
    effectiveContext(verb, owner, describing: { describeKey(TypeIdentity.of(type).text, name) }, at: site)
  }

  /// The effective context: the attached one, otherwise `AppContext`; nil, and a report, if the attached one is gone.
  func effectiveContext(
    _ verb: String, _ owner: AnyObject, describing what: () -> String, at site: CallSite
  ) -> UDIContext? {
    switch state {
    case .attached(let context): return context
    case .none:
      reportUnattached(owner, verb, what, site)
      return AppContext
    case .gone:
      UDIReporter.current.report(
        .contextGone,
        """
        The \(Swift.type(of: owner)) used \(verb) for \(what()), but the context that it is attached to is gone: a \
        provider made the object for that context, which owned it. Keep the context as long as you use what it owns.
        """, at: site)
      return nil
    }
  }

  /// Reports that a verb was used while the object is attached to nothing, if the reporter wants to know.
  private func reportUnattached(_ owner: AnyObject, _ verb: String, _ what: () -> String, _ site: CallSite) {
    guard UDIReporter.someReportUnattachedUse.load(ordering: .relaxed) else { return }
    let reporter = UDIReporter.current
    guard reporter.reportsUnattachedUse else { return }
    reporter.report(
      .unattached,
      """
      The \(Swift.type(of: owner)) that is attached to no context used \(verb) for \(what()); AppContext served it. \
      Attach it first: `attach(to:)`.
      """, at: site)
  }

  /// The error of a lookup whose attached context is gone.
  @usableFromInline
  @inline(never)
  func goneError(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ asker: Asker
  ) -> any Error {
    UDILinkError(explanation: UDIExplanation(type, name, search ?? lastSearch, .contextGone)).seen(by: asker)
  }
}
