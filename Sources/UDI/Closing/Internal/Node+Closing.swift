/// The state of closing at a context, and what closing would wait for there. Call this under the tree lock.
extension Node {
  /// The properties of closing that only a few nodes need: the part of a run of `close()` that ends this context, until
  /// it has ended; whether closing the context has called a closer, here or below; and the operation that calls of
  /// `untilClosed` wait for until the closing begins.
  typealias ClosingExtras = (part: ClosingPart?, hasCalledCloser: Bool, end: Operation?)
  static var noClosingExtras: ClosingExtras { (nil, false, nil) }

  func wakeForEnd() { treeLocked.extras?.closing.end?.wakeForChange() }

  /// Tells those who wait for the end of this context, or of one above, that an operation has failed here.
  ///
  /// - Returns: Whether anybody waits.
  @inline(never) func tell(_ failure: UDIFailure, _ garbage: inout Garbage) -> Bool {
    var isTold = false
    for node in andAncestors {
      guard let end = node.treeLocked.extras?.closing.end.take() else { continue }
      isTold = isTold || end.isWanted
      end.failure = failure
      end.wake()
      garbage.add(end)
    }
    return isTold
  }

  /// Whether closing the context would close something, or wait for something. Call this under the tree lock.
  @inline(never) package var hasOpenEnds: Bool {
    var isOpen = treeLocked.extras?.making.activities.isEmpty == false
    treeLocked.providers.forEach {
      isOpen = isOpen || $0.provider.closer?.unclosed.isEmpty == false || !$0.provider.isAtRest
    }
    return isOpen
  }

  /// A failure of an operation in this context, or in one below, that nobody has been told; nil if there is none.
  func takeFailure() -> UDIFailure? {
    for (node, _) in BreadthFirst(self) where node.treeLocked.hasClosers {
      for unclosed in node.allProviders.flatMap({ $0.closer?.unclosed ?? [] }) {
        if let failure = unclosed.operation?.failure.take() { return failure }
      }
    }
    return nil
  }
}
