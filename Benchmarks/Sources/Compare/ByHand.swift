import Synchronization

/// A node of a tree as a program without the library might have it. It does little more than a context must: each node
/// has a table, and what is bound in a node is also in the tables above it.
final class NodeByHand: Sendable {
  private struct Content {
    unowned var parent: NodeByHand?
    var children: [String: NodeByHand] = [:]
    var bound: [ObjectIdentifier: WeakBox] = [:]
    var factories: [ObjectIdentifier: FactoryByHand] = [:]
  }

  let tag: String
  private let content = Mutex(Content())

  init(_ tag: String) { self.tag = tag }

  func makeChild(_ tag: String) -> NodeByHand {
    let child = NodeByHand(tag)
    child.content.withLock { $0.parent = self }
    content.withLock { $0.children[tag] = child }
    return child
  }

  func add(_ child: NodeByHand) {
    let boxes = child.content.withLock { content in
      content.parent = self
      return content.bound
    }
    content.withLock { $0.children[child.tag] = child }
    climb { content in for (key, box) in boxes { content.bound[key] = box } }
  }

  func remove(_ child: NodeByHand) {
    let boxes = child.content.withLock { content in
      content.parent = nil
      return content.bound
    }
    content.withLock { $0.children[child.tag] = nil }
    climb { content in for (key, box) in boxes where content.bound[key] === box { content.bound[key] = nil } }
  }

  func bind(_ object: Plain, as key: ObjectIdentifier) {
    let box = WeakBox(object)
    climb { $0.bound[key] = box }
  }

  func unbind(_ key: ObjectIdentifier) { climb { $0.bound[key] = nil } }

  func register(_ key: ObjectIdentifier, _ make: @escaping @Sendable () -> Plain) {
    let factory = FactoryByHand(make)
    content.withLock { $0.factories[key] = factory }
  }

  /// Finds what is bound in the node, below it or above it.
  func link(_ key: ObjectIdentifier) -> Plain? {
    var node: NodeByHand? = self
    while let current = node {
      let (found, parent) = current.content.withLock { ($0.bound[key]?.object, $0.parent) }
      if let found { return found }
      node = parent
    }
    return nil
  }

  /// The instance that the node keeps, which is made when it is needed first.
  func instance(_ key: ObjectIdentifier) -> Plain? { content.withLock { $0.factories[key] }?.instance() }

  /// Changes the node and all nodes above it.
  private func climb(_ change: (inout Content) -> Void) {
    var node: NodeByHand? = self
    while let current = node {
      node = current.content.withLock { content in
        change(&content)
        return content.parent
      }
    }
  }
}

private final class WeakBox: Sendable {
  weak let object: Plain?
  init(_ object: Plain) { self.object = object }
}

private final class FactoryByHand: Sendable {
  private let make: @Sendable () -> Plain
  private let kept = Mutex<Plain?>(nil)

  init(_ make: @escaping @Sendable () -> Plain) { self.make = make }

  func instance() -> Plain {
    kept.withLock { kept in
      if let kept { return kept }
      let made = make()
      kept = made
      return made
    }
  }
}

/// Instances that are kept for each list of arguments.
final class CacheByHand {
  private let lock = Mutex<Void>(())
  private var kept: [[AnyHashable]: Plain] = [:]

  /// The instance for these arguments, which is made when it is needed first.
  func instance(_ arguments: [AnyHashable]) -> Plain {
    lock.withLock { _ in
      if let known = kept[arguments] { return known }
      let made = Plain()
      kept[arguments] = made
      return made
    }
  }
}
