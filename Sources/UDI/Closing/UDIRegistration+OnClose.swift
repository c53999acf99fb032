/// Closing the instances that a context owns.
extension UDIRegistration where Dependency: Sendable {
  /// Sets a closure that is called with each instance that the context owns, when the context is closed.
  ///
  /// ```swift
  /// context.register(Database.self) { try Database.open() }
  ///   .onClose { database in await database.disconnect() }
  /// ```
  ///
  /// The closure is also called with instances that exist already, except those of scopes that are not in the tree now.
  /// Of instances that exist already, it may not be known which ones helped to make which. Then the order of the
  /// registrations alone determines the order in which they are closed: see ``UDIContext/close()``.
  ///
  /// An instance that is passed to `provide` while the context is being closed, or afterwards, is closed at once. An
  /// error is then reported as ``UDIMisuse/Kind/closingFailed``.
  ///
  /// If an instance is released without having been closed, this is reported as ``UDIMisuse/Kind/unclosed``. (A reset
  /// does not release instances that were passed to `provide`.)
  ///
  /// - Parameters:
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - close: Closes an instance. It runs on its own actor. An error that it throws is one of the failures that
  ///     ``UDIContext/close()`` throws.
  /// - Returns: The same registration, for chaining.
  /// - Precondition: This is the registration of a provider under a lifetime by which a context owns the instances: not
  ///   `.unique`, `.graph` or `.weak`, and not one with a storage of your own. It has no other `onClose`.
  /// - Complexity: O(instances that are kept); under ``UDILifetime/scope``, also O(contexts in the tree).
  @discardableResult
  public func onClose(
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ close: @escaping @Sendable @isolated(any) (Dependency) async throws -> Void
  ) -> UDIRegistration { closing(Closer.body(close, isExact: makesExactType), at: UDICallSite(fileID, line)) }
}

extension UDIRegistration {
  /// Does the same as the form for `Sendable` types on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor @discardableResult
  public func onClose(
    fileID: StaticString = #fileID, line: UInt = #line,
    _ close: @escaping @isolated(any) (Dependency) async throws -> Void
  ) -> UDIRegistration {
    let site = UDICallSite(fileID, line)
    return closing(Closer.bodyOnMainActor(close, isExact: makesExactType, site), at: site)
  }

  private func closing(_ body: Closer.Body, at site: UDICallSite) -> UDIRegistration {
    _ = changeClosers("onClose", at: site) {
      if $0.close != nil { fatalError("\(site.fileID):\(site.line): `onClose` was called twice.") }
      $0.close = body
    }
    // An instance that was provided to a context that is not open was refused, so nothing else will close it.
    if let provider = entry as? Provider, let (instance, path) = Tree.change({ _ in provider.extras?.refused.take() }) {
      Task { await provider.close(instance.value, with: body, path) }
    }
    return self
  }

  /// Changes the closers of the provider's instances, including those that exist already.
  ///
  /// - Returns: The keepers of the instances.
  func changeClosers(_ verb: String, at site: UDICallSite, _ change: (Closer) -> Void) -> [Provider] {
    guard let provider = provider(for: verb, at: site) else { return [] }
    // A provider that was not registered, for example because of `replaces: false`, has no lifetime yet.
    if !provider.owns, provider.id != 0 {
      fatalError(
        """
        \(site.fileID):\(site.line): `\(verb)` was called on \(describeType(provider.key.type.text)), but under the \
        lifetime "\(provider.lifetime.name)" the context does not own the instances, so it cannot close them. Name a \
        lifetime under which the context keeps them, for example `.context` or `.scope`; or close each instance where \
        it is used.
        """)
    }
    return Tree.change { garbage in
      let keepers = provider.openKeepers(verb, &garbage) ?? []
      for keeper in keepers {
        let (isNew, closer) = (keeper.closer == nil, keeper.closer ?? Closer())
        if let old = closer.operation { garbage.add(old.body) }
        change(closer)
        keeper.setCloser(closer)
        if let node = keeper.node { keeper.noteCloser(node) }
        if isNew { keeper.allKept.forEach(keeper.noteUnclosed) }
      }
      return keepers
    }
  }
}
