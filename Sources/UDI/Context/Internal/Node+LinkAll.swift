import Synchronization

extension Node {
  /// Every live binding of a type in search order, and within one context in the order in which they were bound.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - name: Their name; nil for those without one.
  ///   - search: The direction; nil for this context's.
  ///   - ofAnyName: Whether to take all of them whatever their name.
  /// - Complexity: O(contexts that have the key at them or below them, and above a hit), whatever else the tree holds.
  func allDependencies(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, ofAnyName: Bool
  ) -> ContiguousArray<FoundDependency> {
    let (identity, isExact) = (TypeIdentity.of(type), TypeToken.of(type).isExact)
    let key = KeyIdentity.of(identity, name)
    return Tree.change { garbage in
      let search = search ?? defaultSearch
      let keys = ofAnyName ? keys(of: identity, search) : [key.id]
      var found = FoundDependencies(keys: keys, isExact: isExact)
      switch search {
      case .local:
        found.collect(from: self)
      case .ancestors:
        var next: Node? = self
        while let node = next {
          found.collect(from: node)
          next = node.parent
        }
      case .descendants:
        found.collectBreadthFirst(from: self)
      }
      for binding in found.dead { binding.withdraw(&garbage) }
      // The key's last reference may go with what was withdrawn; not before the lock was given back.
      garbage.add(key)
      return found.live
    }
  }

  /// The ids of all keys of a type that a search from here can meet.
  private func keys(of type: TypeIdentity, _ search: UDISearch) -> [UInt64] {
    guard type.namedKeys.load(ordering: .relaxed) > 0 else { return [type.id] }
    var keys: Set<UInt64> = [type.id]
    var next: Node? = self
    while let node = next {
      node.slots.forEach { slot in
        if slot.best.object.key.type === type { keys.insert(slot.key) }
      }
      next = search == .ancestors ? node.parent : nil
    }
    return Array(keys)
  }
}

/// A live dependency that a lookup of all has found.
@usableFromInline
struct FoundDependency {
  @usableFromInline let object: AnyObject
  let form: StoredForm
  @usableFromInline let isExact: Bool

  @inlinable
  func value<Dependency>(as type: Dependency.Type) -> Dependency? {
    guard isExact else { return object as? Dependency }
    return unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { memory in
      let address = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe write(to: UnsafeMutableRawPointer(address))
      return unsafe address.move()
    }
  }

  @usableFromInline
  func write(to memory: UnsafeMutableRawPointer) { unsafe form.write(object, to: memory) }
}

/// The state of a lookup of all.
private struct FoundDependencies {
  let keys: [UInt64]
  let isExact: Bool
  var live: ContiguousArray<FoundDependency> = []
  var dead: [Binding] = []

  init(keys: [UInt64], isExact: Bool) {
    self.keys = keys
    self.isExact = isExact
  }

  /// Adds what is bound at a node itself.
  mutating func collect(from node: Node) {
    if keys.count == 1 {
      if let binding = node.ownBinding(keys[0]) { add(binding) }
    } else {
      for binding in keys.compactMap(node.ownBinding).sorted(by: { $0.serial < $1.serial }) { add(binding) }
    }
  }

  private mutating func add(_ binding: Binding) {
    if let object = binding.object {
      live.append(FoundDependency(object: object, form: binding.form, isExact: isExact && binding.isExact))
    } else {
      dead.append(binding)
    }
  }

  /// Adds what is bound at a node and below it, level by level, entering only branches that lead to something.
  mutating func collectBreadthFirst(from start: Node) {
    var level = [start]
    while !level.isEmpty {
      var next: [Node] = []
      for parent in level {
        collect(from: parent)
        let first = next.count
        for key in keys {
          parent.slots.find(key)?.element.children.forEach { next.append($0) }
        }
        // Slots list children nearest first; a level goes by the order in which they were added.
        let isOrdered = next[first...].isStrictlyOrdered
        if !isOrdered {
          let children = Dictionary(grouping: next[first...]) { $0.sequence }
          next.removeSubrange(first...)
          for sequence in children.keys.sorted() { next.append(children[sequence, default: []][0]) }
        }
      }
      level = next
    }
  }
}

extension ArraySlice<Node> {
  /// Whether sequence numbers rise, without a repetition.
  fileprivate var isStrictlyOrdered: Bool {
    zip(self, dropFirst()).allSatisfy { $0.sequence < $1.sequence }
  }
}
