import Synchronization

/// Scopes: contexts that lookups from outside do not look into.
extension UDIContext {
  /// Makes a scope, and adds it as the last child of this context.
  ///
  /// A scope is a child that lookups from outside do not enter, whatever their search. They find no dependency in the
  /// scope or below it, and updates from outside do not report any. Lookups from inside can find everything above.
  /// Several requests, sessions or windows can therefore exist side by side below one context without access to each
  /// other's dependencies.
  ///
  /// These, among others, do look into scopes: ``UDILinking/find(_:fileID:line:)``, ``children``, paths,
  /// ``close()``, snapshots and explanations.
  ///
  /// - Parameters:
  ///   - tag: The tag of the scope. If another child already has this tag, a number is appended.
  ///   - kind: The kind of the scope, which lifetimes name (``UDILifetime/scope(_:)``); by default `tag`, without a
  ///     number. Pass it if the tags are ids.
  ///   - search: The direction of lookups from the scope; by default this context's.
  /// - Returns: The scope, which this context holds strongly. It stays a scope wherever it is moved.
  /// - Throws: ``UDITreeError/closed(_:child:parent:)`` if this context is closed or is being closed.
  /// - Complexity: O(1). Bindings in a scope do not enter the index of the contexts above it.
  @discardableResult
  public func makeScope(tag: String, kind: String? = nil, search: UDISearch? = nil) throws(UDITreeError) -> UDIContext {
    do throws(UDITreeError) { return try makeChild(tag: tag, search: search, isScope: true, kind: kind) } catch {
      guard case .duplicateTag = error else { throw error }
      let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
      return try makeScope(tag: "\(tag) #\(number)", kind: kind ?? tag, search: search)
    }
  }

  /// Makes a scope, and sets it up. If the set-up fails, nothing is left of the scope.
  ///
  /// ```swift
  /// let session = try await root.makeScope(tag: "session") { session in
  ///   session.install(SessionModule(account))
  ///   try await session.warmUp()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - tag: The tag of the scope. If another child already has this tag, a number is appended.
  ///   - kind: The kind of the scope; by default `tag`.
  ///   - search: The direction of lookups from the scope; by default this context's.
  ///   - setUp: Sets the scope up; it stays on the caller's actor. If it throws, or if the task has been cancelled when
  ///     it ends, the scope is closed as by ``close()``, and then the error is thrown. Errors that `onClose` closures
  ///     throw meanwhile go to the reporter, as ``UDIMisuse/Kind/closingFailed``.
  /// - Returns: The scope, which this context holds strongly.
  /// - Throws: ``UDITreeError/closed(_:child:parent:)`` if this context or the scope is closed or is being closed, even
  ///   if that begins while `setUp` runs; the error that `setUp` throws; or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func makeScope(
    tag: String, kind: String? = nil, search: UDISearch? = nil,
    setUp: nonisolated(nonsending) (UDIContext) async throws -> Void
  ) async throws -> UDIContext {
    let scope = try makeScope(tag: tag, kind: kind, search: search)
    do {
      try await setUp(scope)
      try Task.checkCancellation()
      if let path = scope.endingPath { throw UDITreeError.closed(path, child: scope.fullPath, parent: fullPath) }
      return scope
    } catch {
      await scope.endScope(after: error)
      throw error
    }
  }

  /// Runs an operation with a scope below this context, and then closes the scope, even if the operation throws.
  ///
  /// ```swift
  /// try await root.withScope(tag: request.id) { scope in
  ///   scope.provide(request.logger)
  ///   return try await Handler().attached(to: scope).handle(request)
  /// }
  /// ```
  ///
  /// The scope is closed as by ``close()``. If an `onClose` closure then throws, so does this method, although the
  /// operation has returned. So an `onClose` closure may commit the work of the operation, and a failed commit is not
  /// mistaken for a success. If the operation has thrown, this method throws its error, and the errors of closing go to
  /// the reporter, as ``UDIMisuse/Kind/closingFailed``.
  ///
  /// If the operation itself or other code has closed the scope before the operation returned, that code gets the
  /// errors of closing. This method throws ``UDIUntimelyEnd/scopeClosed`` if an `onClose` closure has been called,
  /// because the closure has not seen ``UDIEnding/returned``.
  ///
  /// If this context is closed or is being closed, the operation does not run.
  ///
  /// - Parameters:
  ///   - tag: The tag of the scope. If another child already has this tag, a number is appended.
  ///   - kind: The kind of the scope; by default `tag`.
  ///   - search: The direction of lookups from the scope; by default this context's.
  ///   - operation: The operation to run; it stays on the caller's actor.
  /// - Returns: The result of `operation`.
  /// - Throws: The error that `operation` throws; ``UDITreeError/closed(_:child:parent:)`` if this context is closed or
  ///   is being closed; or ``UDICloseError``, or ``UDIUntimelyEnd/scopeClosed``.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func withScope<Result, Failure: Error>(
    tag: String, kind: String? = nil, search: UDISearch? = nil,
    operation: nonisolated(nonsending) (UDIContext) async throws(Failure) -> Result
  ) async throws -> Result {
    // The operation's error has a type, because the compiler (Swift 6.3) crashes when it converts a closure that throws
    // a typed error into one that throws any.
    let scope = try makeScope(tag: tag, kind: kind, search: search)
    let result: Result
    do { result = try await operation(scope) } catch {
      await scope.endScope(after: error)
      throw error
    }
    if !scope.closeAtOnce(), let error = await scope.endScope(.returned) { throw error }
    return result
  }

  /// Runs a synchronous operation with a scope below this context, and then removes the scope.
  ///
  /// In an asynchronous function, the compiler takes the asynchronous form, even if the operation awaits nothing. There
  /// is one exception: code at the top level of a program, outside any function, gets this form if its operation awaits
  /// nothing.
  ///
  /// This form throws no errors of its own. If this context is closed or is being closed, that is reported, and the
  /// operation gets a closed scope that has no parent. Lookups from there find the dependencies that this context and
  /// those above it still have.
  ///
  /// This form cannot wait until the scope has been closed. If the scope has made instances that were registered with
  /// `onClose`, they are reported as ``UDIMisuse/Kind/unclosed`` when they are released. Use the asynchronous form for
  /// them.
  ///
  /// - Parameters:
  ///   - tag: The tag of the scope. If another child already has this tag, a number is appended.
  ///   - kind: The kind of the scope; by default `tag`.
  ///   - search: The direction of lookups from the scope; by default this context's.
  ///   - operation: The operation to run.
  /// - Returns: The result of `operation`.
  /// - Throws: The error that `operation` throws.
  @_disfavoredOverload
  public func withScope<Result, Failure: Error>(
    tag: String, kind: String? = nil, search: UDISearch? = nil, operation: (UDIContext) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let scope = makeNumberedScope(tag: tag, kind, search, "withScope")
    defer { scope.removeFromParent() }
    return try operation(scope)
  }

  /// Whether this context is a scope, which lookups from outside do not enter.
  public var isScope: Bool { change { node, _ in node.treeLocked.isScope } }

  /// The kind of this scope; nil if this context is not a scope.
  ///
  /// It is the tag that was asked for, without a number, or the `kind` that was passed. ``UDILifetime/scope(_:)`` names
  /// kinds.
  public var scopeKind: String? { change { node, _ in node.scopeKind } }

  /// Does the same as `makeScope`, but throws nothing: if this context is being closed or is closed, reports that no
  /// scope can be added, and makes a scope without a parent instead. That scope is already closed, so that nothing can
  /// be registered or found in it. Lookups from there go on at this context or, if it is closed, where its own lookups
  /// go on.
  @inline(never)
  func makeNumberedScope(tag: String, _ kind: String?, _ search: UDISearch?, _ verb: String) -> UDIContext {
    if let scope = try? makeScope(tag: tag, kind: kind, search: search) { return scope }
    let scope = UDIContext(tag: tag, search: search ?? self.search)
    change { node, garbage in
      node.reportClosed(verb, of: nil, at: UDICallSite("", 0), &garbage)
      scope.withNode { scope in
        (scope.treeLocked.isScope, scope.treeLocked.state, scope.treeLocked.hasLostParent) = (true, .closed, true)
        let extras = scope.treeLocked.ensureExtras()
        (extras.closedPath, extras.scopeKind) = (node.endingPath, kind)
        let isClosed = node.treeLocked.state == .closed
        scope.goOn(at: isClosed ? node.shared.parent : node, past: isClosed ? node.pastForThoseBelow : nil)
      }
    }
    return scope
  }

  private static let lastNumber = Atomic<UInt>(1)
}
