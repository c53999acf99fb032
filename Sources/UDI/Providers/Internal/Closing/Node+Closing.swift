/// How a context is closed while something holds it. Everything in the extension of `Node` runs under the tree lock.
extension Node {
  /// Whether the context can be closed at once: nothing has to be closed or waited for, and the context has no children
  /// and is neither closed nor being closed.
  fileprivate var closesAtOnce: Bool {
    if treeLocked.hasClosers || hasChildren || treeLocked.state.isEnding { return false }
    if treeLocked.extras?.droppedCreations.isEmpty == false { return false }
    var isAtRest = true
    treeLocked.providers.forEach { isAtRest = isAtRest && $0.provider.isAtRest }
    return isAtRest
  }

  /// Marks the context as being closed. From now on, nothing is added to it and nothing new is made in it.
  ///
  /// - Parameters:
  ///   - closing: The run. This method adds the context's creations and its providers with closers to it.
  ///   - position: The position of the context among those that the run ends.
  func beginClosing(_ closing: Closing, at position: Int, _ garbage: inout Garbage) {
    treeLocked.state = .closing
    treeLocked.ensureExtras().closing = closing
    // A closer may wait for a task that follows something here.
    if treeLocked.isWatched { endWatching() }
    var providers: [Provider] = []
    treeLocked.providers.forEach { providers.append($0.provider) }
    for provider in providers {
      garbage.add(provider)
      if let closer = provider.closer {
        closer.isClosing = true
        closing.providers.append((provider, closer, position))
      }
      for creation in provider.creations { closing.waitFor(creation, path: fullPath) }
      provider.leaveIfEnding(&garbage)
    }
    for creation in treeLocked.extras?.droppedCreations ?? [] { closing.waitFor(creation, path: fullPath) }
  }

  /// Whether the context is closed, and so is everything that was closed together with it.
  fileprivate var isClosed: Bool { treeLocked.state == .closed && treeLocked.extras?.closing == nil }
}

extension Provider {
  /// Whether no instance that the provider will keep is being made or stored. Call this under the tree lock.
  fileprivate final var isAtRest: Bool { creation == nil && (!hasCaches || caches.all.allSatisfy(\.isAtRest)) }

  /// The creations of this provider that are under way. Call this under the tree lock.
  fileprivate final var creations: [Creation] {
    let own = creation.map { [$0] } ?? []
    return hasCaches ? own + caches.all.compactMap(\.creation) : own
  }
}

extension UDIContext {
  /// Begins to close this context, unless this has happened already.
  ///
  /// - Returns: The run to wait for, and whether the caller has to start it; nil if the context is closed, by this call
  ///   or already before.
  func beginClosing() -> (closing: Closing, isNew: Bool)? {
    if closeAtOnce() { return nil }
    return change { node, garbage in
      switch node.treeLocked.state {
      case .closing, .closed: node.treeLocked.extras?.closing.map { ($0, false) }
      case .open, .inert: (Closing(self, node, &garbage), true)
      }
    }
  }

  /// Closes this context if it can be closed at once (`closesAtOnce`).
  ///
  /// - Returns: Whether the context is closed, by this call or already before.
  func closeAtOnce() -> Bool {
    var path: [String]?
    let isClosed = withNode { node in
      node.end { node in
        if node.isClosed { return true }
        guard node.closesAtOnce else { return false }
        if UDIObserver.mayExist { path = node.fullPath }
        return true
      }
    }
    if let path { UDIObserver.tell { .closed(UDIEvent.Closed(contextAt: path, .zero)) } }
    return isClosed
  }
}
